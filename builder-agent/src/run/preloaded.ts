import { open } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../programs.ts";
import { shims } from "./kiwi.ts";

/**
 * A command that starts a Python program and loads its modules, but begins to run it only at the end of its standard
 * input (shims/loaded.py). Undefined if it is not a Python program.
 */
export async function preloaded(program: string, path: string): Promise<string[] | undefined> {
  const file = program.includes("/") ? program : await findProgram(program, path);
  const [, python, option] = /^#! ?(\/\S*python[\d.]*)(?: (-\w+))?\n/.exec(await headOf(file)) ?? [];
  if (file === undefined || python === undefined) return undefined;
  return [python, ...(option === undefined ? [] : [option]), join(shims, "loaded.py"), file];
}

/** The command of a Debian's KIWI, with the shims in that folder. */
export const preloadedInDebian = (folder: string): string[] => [
  "/usr/bin/python3",
  join(folder, "loaded.py"),
  "/usr/bin/kiwi-ng",
];

async function headOf(file: string | undefined): Promise<string> {
  if (file === undefined) return "";
  try {
    await using handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256));
    return buffer.toString("latin1", 0, bytesRead);
  } catch {
    return ""; // starting the program will report the error
  }
}
