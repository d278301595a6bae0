import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { Complaint } from "./complaint.ts";

/** The text of a file that the operator names. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw new Complaint(code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read (${String(code)}).`);
  }
}

/** Reads a text file; `-` means standard input. */
export const readTextOrInput = async (path: string): Promise<string> =>
  path === "-" ? await text(process.stdin) : readText(path);

/** Undefined if the text is not JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
