import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Complaint } from "./complaint.ts";

/** The text of a file that the user has named. @param next what to do if it cannot be read */
export function readText(file: string, next: string): string {
  const found = readIfThere(file);
  if (found) return found.toString("utf8");
  throw new Complaint("misused", `${file} cannot be read.`, next);
}

/** Undefined if there is no such file, or it cannot be read. */
export function readIfThere(file: string): Buffer<ArrayBuffer> | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** The sorted names in a folder, which may not exist. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

export async function digestOfFile(file: string, algorithm: "sha1" | "sha256"): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
