/** One hash of everything that determines the module. */
import { createHash, type Hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourcePackages } from "./pins.ts";
import { nativeFolder } from "./places.ts";
import { givenFolder } from "./sources.ts";
import { toolchainVersion } from "./toolchain.ts";

export async function inputsHash(): Promise<string> {
  const hash = createHash("sha256");
  hash.update(await toolchainVersion());
  addFolder(hash, fileURLToPath(new URL(".", import.meta.url)));
  addFolder(hash, nativeFolder);
  for (const source of sourcePackages) {
    const folder = givenFolder(source);
    if (folder) addFolder(hash, folder);
  }
  return hash.digest("hex");
}

const counted = /\.(c|h|in|json|ts)$/;

function addFolder(hash: Hash, folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => counted.test(name));
  for (const name of names.toSorted()) {
    const content = readFileSync(join(folder, name));
    hash.update(`${name} ${content.length}\n`).update(content);
  }
}
