import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Bundle } from "../../../scripts/launch/bundle.ts";
import type { EmbeddedOptions } from "../../../scripts/launch/embedded.ts";

const archive = fileURLToPath(new URL("../old-release/release.tar.xz", import.meta.url));
const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));

interface OldRelease {
  worker: Pick<EmbeddedOptions, "bundle" | "modulesFolder" | "migrationsFolder">;
  /** The agent's program. */
  agent: string;
}

/** Unpacks the older release into an empty folder. */
export function unpackOldRelease(folder: string): OldRelease {
  execFileSync("tar", ["--extract", "--xz", "--file", archive, "--directory", folder]);
  // Its agent has the same packages as this one.
  symlinkSync(modules, join(folder, "node_modules"));
  const modulesFolder = join(folder, "worker");
  const bundle = Bundle.parse(JSON.parse(readFileSync(join(modulesFolder, "embedded.json"), "utf8")));
  const worker = { bundle, modulesFolder, migrationsFolder: join(folder, "migrations") };
  return { worker, agent: join(folder, "builder-agent/src/main.ts") };
}
