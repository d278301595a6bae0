import type { z } from "zod";
import { storedConfiguration } from "#lib/configuration/document";
import { storedSchema } from "#lib/wire/stored";

/** An appliance's configuration, without its software (compatibility.md, "Configuration"), as its row stores it. */
export const Configuration = storedSchema(storedConfiguration);
export type Configuration = z.infer<typeof Configuration>;

/** A page asks for the configuration of one row several times. */
const parsed = new WeakMap<Configuration, Configuration>();

/** The whole configuration of a row, with initial values for newer settings; passwords as stored. */
export function configurationOf({ configuration: stored }: { configuration: Configuration }): Configuration {
  const known = parsed.get(stored) ?? Configuration.parse(stored);
  parsed.set(stored, known);
  return known;
}

/** The length of a configuration in the database. */
export const storedBytesOf = (configuration: Configuration): number =>
  new TextEncoder().encode(JSON.stringify(configuration)).byteLength;
