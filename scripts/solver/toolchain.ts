/** The compiler: what of it is missing, and which one it is. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { command } from "../launch/command.ts";
import { Complaint } from "../launch/complaint.ts";
import { toolPackages } from "./pins.ts";

export const target = "--target=wasm32-wasi";

/** Complains about Debian packages that are not installed; on other systems the tools themselves will. */
export async function checkToolPackages(): Promise<void> {
  const installed = await installedPackages();
  const missing = installed ? toolPackages.filter((name) => !installed.has(name)) : [];
  if (missing.length === 0) return;
  throw new Complaint(
    `The solver needs a compiler for WASM:\n  apt-get install --no-install-recommends ${missing.join(" ")}`,
  );
}

async function installedPackages(): Promise<Set<string> | undefined> {
  const format = "${Package} ${db:Status-Status}\\n";
  const listed = await command("dpkg-query", ["--show", "--showformat", format]).catch(() => undefined);
  const names = listed?.split("\n").filter((line) => line.endsWith(" installed"));
  return names && new Set(names.map((line) => line.slice(0, line.indexOf(" "))));
}

/** A text that changes when any tool does, or the C library. */
export async function toolchainVersion(): Promise<string> {
  const versions = ["clang", "wasm-ld", "wasm-opt"].map((tool) => command(tool, ["--version"]));
  const library = await command("clang", [target, "-print-file-name=libc.a"]);
  const libraryDigest = createHash("sha256").update(readFileSync(library)).digest("hex");
  return [...(await Promise.all(versions)), libraryDigest].join("\n");
}
