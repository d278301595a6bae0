import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { isAccessible } from "../files.ts";

/** Why a builder root cannot be made or used, as a message for the operator. */
export class RootFault extends Error {
  override readonly name = "RootFault";
}

/** One suite of a Debian mirror. */
const Suite = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, "")),
  suite: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.+/-]*$/),
  components: z.array(z.string().regex(/^[a-z][a-z-]*$/)).default(["main"]),
  /** The packages to take from it, by default all. */
  only: z.array(z.string()).optional(),
});
export type Suite = z.infer<typeof Suite>;

/** The definition of a builder root: a file below `builder-agent/roots`, or one of the operator's. */
const Definition = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  title: z.string().min(1).max(200),
  /** The file with the keys of the suites in ASCII armour, relative to the definition. */
  keyring: z.string().min(1),
  suites: z.array(Suite).min(1),
  /** Packages in addition to those of every root (contents.ts). */
  packages: z.array(z.string()).default([]),
});
export type RootDefinition = z.infer<typeof Definition>;

/** The definitions that come with the agent. */
export const definitionsDir = fileURLToPath(new URL("../../roots", import.meta.url));

/** @param given a name in `builder-agent/roots`, or the path of a .json file */
export async function readDefinition(given: string): Promise<RootDefinition> {
  const file = given.endsWith(".json") ? resolve(given) : join(definitionsDir, `${given.replaceAll("/", "")}.json`);
  if (!(await isAccessible(file))) throw new RootFault(`There is no definition of a builder root ${given}.`);
  try {
    const definition = Definition.parse(JSON.parse(await readFile(file, "utf8")));
    return { ...definition, keyring: resolve(dirname(file), definition.keyring) };
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : "it is not JSON";
    throw new RootFault(`${file} is not a valid definition of a builder root: ${why}`);
  }
}

/** The same definition with other mirrors in place of Debian's own. */
export function withMirrors(
  definition: RootDefinition,
  { mirror, securityMirror }: { mirror?: string | undefined; securityMirror?: string | undefined },
): RootDefinition {
  const others = new Map([
    ["http://deb.debian.org/debian", mirror],
    ["http://deb.debian.org/debian-security", securityMirror ?? (mirror && `${mirror}-security`)],
  ]);
  return {
    ...definition,
    suites: definition.suites.map((one) => ({ ...one, url: (others.get(one.url) ?? one.url).replace(/\/+$/, "") })),
  };
}
