/** The Debian source packages that the solver is made of, and where a machine without apt keeps its own copies. */
import { readFileSync } from "node:fs";
import { z } from "zod";

const SourcePackage = z.object({
  name: z.enum(["libsolv", "expat", "xz-utils", "bzip2"]),
  /** Environment variable that names an unpacked and patched source tree to take instead. */
  folderVariable: z.string(),
  /** Debian's version; the same one gives the same module everywhere. */
  version: z.string(),
  /** Upstream's and Debian's archive, with their sha256. */
  files: z.record(z.string(), z.string()),
});

export type SourcePackage = z.infer<typeof SourcePackage>;
export type SourceName = SourcePackage["name"];

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));

export const sourcePackages = z.array(SourcePackage).parse(read("sources.json"));
