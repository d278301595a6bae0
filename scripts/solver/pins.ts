/** The Debian source packages of the solver, and the variables that name existing copies on a machine without apt. */
import { readFileSync } from "node:fs";
import { z } from "zod";

const SourcePackage = z.object({
  name: z.enum(["libsolv", "expat", "xz-utils", "bzip2"]),
  /** The environment variable with the path of an unpacked and patched source tree to use instead. */
  folderVariable: z.string(),
  /** The version in Debian. The same version gives the same module everywhere. */
  version: z.string(),
  /** The sha256 of upstream's and Debian's archives. */
  files: z.record(z.string(), z.string()),
});

export type SourcePackage = z.infer<typeof SourcePackage>;
export type SourceName = SourcePackage["name"];

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));

export const sourcePackages = z.array(SourcePackage).parse(read("sources.json"));
