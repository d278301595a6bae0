import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { protocolVersion } from "../../../src/lib/contract/protocol.ts";
import { bundleFolder, type Bundle } from "../../../scripts/launch/bundle.ts";
import type { EmbeddedOptions } from "../../../scripts/launch/embedded.ts";

const migrations = fileURLToPath(new URL("../../../migrations", import.meta.url));

/**
 * A possible next release: this Worker with the next protocol number and one more migration. The agents of this release
 * are then one version behind.
 */
export function makeNextRelease(
  bundle: Bundle,
  folder: string,
): Pick<EmbeddedOptions, "bundle" | "modulesFolder" | "migrationsFolder"> {
  const release = { bundle, modulesFolder: join(folder, "worker"), migrationsFolder: join(folder, "migrations") };
  cpSync(bundleFolder, release.modulesFolder, { recursive: true });
  cpSync(migrations, release.migrationsFolder, { recursive: true });
  writeFileSync(join(release.migrationsFolder, "9999_next.sql"), "ALTER TABLE agents ADD next_release text;");
  const entry = join(release.modulesFolder, "index.js");
  const [before = "", after, ...more] = readFileSync(entry, "utf8").split(`protocolVersion = ${protocolVersion};`);
  if (after === undefined || more.length > 0) throw new Error("the bundle does not have its protocol number once");
  writeFileSync(entry, `${before}protocolVersion = ${protocolVersion + 1};${after}`);
  return release;
}
