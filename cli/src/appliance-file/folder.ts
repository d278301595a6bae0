import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Complaint } from "../complaint.ts";
import { readIfThere, readText } from "../files.ts";
import { readApplianceFile, type ApplianceFile } from "./read.ts";
import type { Written } from "./write.ts";

/** Reads `appliance.yaml` with the files next to it. */
export function readFrom(file: string): ApplianceFile {
  const folder = dirname(file);
  return readApplianceFile(readText(file, "`kiln export APPLIANCE` writes such a file."), {
    name: file,
    read: (path) => (isBelow(folder, path) ? readIfThere(join(folder, path)) : undefined),
    env: process.env,
  });
}

/** Resolves links, because a proposed change of the YAML must not reveal other files of the machine that plans it. */
function isBelow(folder: string, path: string): boolean {
  try {
    return realpathSync(join(folder, path)).startsWith(join(realpathSync(folder), "/"));
  } catch {
    return false; // there is no such file
  }
}

/** The folder for contents that are not text, relative to the YAML. */
export const folderFor = (file: string): string => `${basename(file).replace(/\.ya?ml$/, "")}.files`;

/** The file to write an appliance to: the given file, or a file with the appliance's name in the given folder. */
export function targetOf(given: string | undefined, name: string): string {
  const own = `${name.replaceAll(/[^\w.-]+/g, "-").replace(/^[.-]+/, "") || "appliance"}.yaml`;
  if (given === undefined) return own;
  return isFolder(given) ? join(given, own) : given;
}

const isFolder = (path: string): boolean =>
  path.endsWith("/") || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);

export function refuseOverwriting(file: string): void {
  if (!existsSync(file)) return;
  const next = "--force replaces it. References to variables and comments are lost then, unless git has them.";
  throw new Complaint("misused", `${file} already exists.`, next);
}

/** Writes the YAML last. Each file is written completely or not at all. */
export function writeTo(file: string, { text, files }: Written): void {
  try {
    for (const [path, bytes] of files) write(join(dirname(file), path), bytes);
    write(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Complaint("refused", `It cannot be written: ${why}.`, "Name another file, or free disk space.");
  }
}

function write(file: string, content: Uint8Array | string): void {
  mkdirSync(dirname(file), { recursive: true });
  // A name made from that of the file could be the name of another file of the appliance.
  const draft = join(dirname(file), `.kiln-${randomUUID()}`);
  try {
    writeFileSync(draft, content);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
