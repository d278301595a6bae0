import type { z } from "zod";
import { storedConfiguration } from "#lib/configuration/document";
import { storedSchema } from "#lib/wire/stored";

/** An appliance's configuration, without its software (compatibility.md, "Configuration"), as its row stores it. */
export const Configuration = storedSchema(storedConfiguration);
export type Configuration = z.infer<typeof Configuration>;

/** The whole configuration of a row, with initial values for newer settings; passwords as stored. */
export const configurationOf = (appliance: { configuration: Configuration }): Configuration =>
  Configuration.parse(appliance.configuration);

/** The length of a configuration in the database. */
export const storedBytesOf = (configuration: Configuration): number =>
  new TextEncoder().encode(JSON.stringify(configuration)).byteLength;
