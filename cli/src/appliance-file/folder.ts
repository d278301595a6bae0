import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Complaint } from "../complaint.ts";
import { readApplianceFile, type ApplianceFile } from "./read.ts";
import type { Written } from "./write.ts";

/** Reads `appliance.yaml` with the files next to it. */
export function readFrom(file: string): ApplianceFile {
  const folder = dirname(file);
  const text = readBytes(file);
  if (!text) throw new Complaint("misused", `${file} cannot be read.`, "`kiln export APPLIANCE` writes such a file.");
  return readApplianceFile(new TextDecoder().decode(text), {
    name: file,
    read: (path) => (isBelow(folder, path) ? readBytes(join(folder, path)) : undefined),
    env: process.env,
  });
}

/** Also of links: a proposed change of the YAML must not show other files of the machine that plans it. */
function isBelow(folder: string, path: string): boolean {
  try {
    return realpathSync(join(folder, path)).startsWith(join(realpathSync(folder), "/"));
  } catch {
    return false; // there is no such file
  }
}

function readBytes(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** The folder for what is no text, next to the YAML and relative to it. */
export const folderFor = (file: string): string => `${basename(file).replace(/\.ya?ml$/, "")}.files`;

/** Where an appliance is written: a file as it is given, or a file of its own in a folder. */
export function targetOf(given: string | undefined, name: string): string {
  const own = `${name.replaceAll(/[^\w.-]+/g, "-").replace(/^[.-]+/, "") || "appliance"}.yaml`;
  if (given === undefined) return own;
  return isFolder(given) ? join(given, own) : given;
}

const isFolder = (path: string): boolean =>
  path.endsWith("/") || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);

export function refuseOverwriting(file: string): void {
  if (!existsSync(file)) return;
  const next = "--force writes over it. References to variables and comments are lost then, unless git has them.";
  throw new Complaint("misused", `${file} is there already.`, next);
}

/** Writes the YAML last, and at once: a file that is there is whole. */
export function writeTo(file: string, { text, files }: Written): void {
  try {
    for (const [path, bytes] of files) write(join(dirname(file), path), bytes);
    write(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Complaint("refused", `It cannot be written: ${why}.`, "Name another file, or make room.");
  }
}

function write(file: string, content: Uint8Array | string): void {
  mkdirSync(dirname(file), { recursive: true });
  const unfinished = `${file}.part`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, file);
}
