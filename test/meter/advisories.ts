import { env } from "cloudflare:workers";
import { importAdvisories } from "#domain/advisories/import";
import { openDatabase } from "#storage/db";
import { signedIn } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { copyRow, unique } from "../support/many-rows.ts";
import { takeChores } from "../support/sweep.ts";

const packages = 300;
const installed = Array.from({ length: packages }, (_, nth) => ({
  name: `package${nth}`,
  version: "1.0",
  release: "1",
  arch: "amd64",
}));

const count = () => takeChores([{ body: { chore: "countImageAdvisories", at: Date.now() } }]);

/**
 * Images of Debian with the same packages, for counting their advisories. `changed` reads a new advisory about one of
 * these packages.
 */
export async function imagesWithAdvisories(images: number) {
  const tux = await signedIn();
  await createAppliance(tux); // loads the templates
  await loadDebian();
  const first = await startBuild(tux, await createAppliance(tux, { clone_from: 900 }));
  await (await fakeAgent()).buildsSuccessfully(first, undefined, { installed });
  await takeChores([{ body: { chore: "listInstalledPackages", at: Date.now() } }]);
  const changes = { uid: unique("uid"), download_token: unique("download_token"), version: unique("version") };
  await copyRow("builds", { id: first, times: images - 1, changes });
  await env.DB.prepare(
    `INSERT OR IGNORE INTO image_packages (account_id, build_id, packages) SELECT b.account_id, b.id, i.packages
     FROM builds AS b, image_packages AS i WHERE i.build_id = ? AND b.account_id = ?`,
  )
    .bind(first, tux.accountId)
    .run();
  await give(["CVE-2026-1"]);
  await count();
  return { changed: () => give(["CVE-2026-1", "CVE-2026-2"]), count };
}

async function give(ids: readonly string[]): Promise<void> {
  const known = { releases: { test: { status: "resolved", fixed_version: "1.1-1" } } };
  const feed = { package7: Object.fromEntries(ids.map((id) => [id, known])) };
  const body = new Blob([JSON.stringify(feed)]).stream();
  await importAdvisories(openDatabase(env), { feed: "debian", origin: "data.json", body }, Date.now());
}
