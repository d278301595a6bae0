import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { protocolVersion } from "../../../src/lib/contract/protocol.ts";
import { bundleFolder, type Bundle } from "../../../scripts/launch/bundle.ts";

const migrations = fileURLToPath(new URL("../../../migrations", import.meta.url));

/** A table that the next release creates in each Durable Object that has tables. */
export const nextTable = "next_release";
const firstTable = "CREATE TABLE IF NOT EXISTS table_versions";

/** The code of this release that changes in the next one, and its replacement. */
const changes: readonly (readonly [before: string, after: string])[] = [
  [`protocolVersion = ${protocolVersion};`, `protocolVersion = ${protocolVersion + 1};`],
  [firstTable, `CREATE TABLE IF NOT EXISTS ${nextTable} (id INTEGER); ${firstTable}`],
];

/**
 * A possible next release: this Worker with the next protocol number, one more migration, and one more table in its
 * objects. For it, the agents of this release are one version behind.
 */
export function makeNextRelease(bundle: Bundle, folder: string) {
  const release = { bundle, modulesFolder: join(folder, "worker"), migrationsFolder: join(folder, "migrations") };
  cpSync(bundleFolder, release.modulesFolder, { recursive: true });
  cpSync(migrations, release.migrationsFolder, { recursive: true });
  writeFileSync(join(release.migrationsFolder, "9999_next.sql"), "ALTER TABLE agents ADD next_release text;");
  const entry = join(release.modulesFolder, "index.js");
  writeFileSync(entry, changes.reduce(changeOnce, readFileSync(entry, "utf8")));
  return release;
}

function changeOnce(code: string, [before, after]: (typeof changes)[number]): string {
  const [start = "", end, ...more] = code.split(before);
  if (end === undefined || more.length > 0) throw new Error(`the bundle does not have this once: ${before}`);
  return start + after + end;
}
