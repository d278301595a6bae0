/** The compiler and its version. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { command } from "../launch/command.ts";

export const target = "--target=wasm32-wasi";

/** A text that changes whenever a tool or the C library changes. */
export async function toolchainVersion(): Promise<string> {
  const versions = ["clang", "wasm-ld", "wasm-opt"].map((tool) => command(tool, ["--version"]));
  const library = await command("clang", [target, "-print-file-name=libc.a"]);
  const libraryDigest = createHash("sha256").update(readFileSync(library)).digest("hex");
  return [...(await Promise.all(versions)), libraryDigest].join("\n");
}
