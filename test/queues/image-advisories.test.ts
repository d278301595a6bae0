/** The sweep counts the advisories of every image, and lists show the counts. */
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import type { InstalledPackage } from "#lib/contract/index";
import { importAdvisories } from "#domain/advisories/import";
import { openDatabase } from "#storage/db";
import { listUncounted } from "#storage/image-advisories";
import { rowsRead } from "../meter/growth/rows-read.ts";
import { browser } from "../support/browser.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { publish } from "../support/gallery.ts";
import { pageOf, textOf } from "../support/html.ts";
import { copyRow, unique } from "../support/many-rows.ts";
import { takeChores } from "../support/sweep.ts";

const db = openDatabase(env);
const json = { headers: { accept: "application/json" } };

const resolved = (fixed_version: string) => ({ releases: { test: { status: "resolved", fixed_version } } });
const open = { releases: { test: { status: "open", urgency: "low" } } };

let feedAt = Date.now();
const give = (feed: object) =>
  importAdvisories(
    db,
    { feed: "debian", origin: "data.json", body: new Blob([JSON.stringify(feed)]).stream() },
    ++feedAt,
  );
const count = () => takeChores([{ body: { chore: "countImageAdvisories", at: Date.now() } }]);

const apache = (version: string): InstalledPackage[] => [
  { name: "apache2", version, release: "1", arch: "amd64" },
  { name: "apache2-bin", version, release: "1", arch: "amd64", source: { name: "apache2", version: `${version}-1` } },
  { name: "bash", version: "5", release: "1", arch: "amd64" },
];

async function built(tux: Client, applianceId: number, version = "2.4.65"): Promise<number> {
  const id = await startBuild(tux, applianceId);
  await (await fakeAgent()).buildsSuccessfully(id, undefined, { installed: apache(version) });
  await takeChores([{ body: { chore: "listInstalledPackages", at: Date.now() } }]);
  return id;
}

let tux: Client;
beforeEach(async () => {
  await env.DB.batch(
    ["advisories", "advisory_feeds", "advisory_changes"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
  );
  tux = await signedIn();
  await createAppliance(tux); // loads the templates
  await loadDebian();
});

interface Shown {
  count: number;
  appliance: { id: number; advisories?: object }[];
}
const overview = async (query = ""): Promise<Shown> =>
  (await (await tux.get(`/overview${query}`, json)).json<{ overview: Shown }>()).overview;
const shown = async (id: number) => (await overview()).appliance.find((one) => one.id === id)?.advisories;
const idsOf = ({ appliance }: Shown) => appliance.map(({ id }) => id);

it("counts those of each image again when a feed was read", async () => {
  const applianceId = await createAppliance(tux, { clone_from: 900 });
  await built(tux, applianceId);
  await count();
  expect(await shown(applianceId)).toBeUndefined();

  await give({ apache2: { "CVE-2026-1": resolved("2.4.66-1"), "CVE-2026-2": open }, bash: { "CVE-2026-1": open } });
  await count();
  expect(await shown(applianceId)).toEqual({ fixed: 1, open: 1, undetermined: 0, unimportant: 0, exploited: 0 });

  await give({
    apache2: { "CVE-2026-2": open, "CVE-2026-3": resolved("2.4.66-1"), "CVE-2026-4": resolved("2.4.66-1") },
  });
  expect(await shown(applianceId)).toMatchObject({ fixed: 1 });
  await count();
  expect(await shown(applianceId)).toMatchObject({ fixed: 2, open: 1 });

  await built(tux, applianceId, "2.4.66");
  await count();
  expect(await shown(applianceId)).toMatchObject({ fixed: 0, open: 1 });
});

it("finds the appliances whose last images an advisory concerns", async () => {
  await give({ apache2: { "CVE-2026-1": resolved("2.4.66-1") } });
  const [affected, healed, unknown] = [
    await createAppliance(tux, { clone_from: 900 }),
    await createAppliance(tux, { clone_from: 900 }),
    await createAppliance(tux),
  ];
  await built(tux, affected);
  await built(tux, healed);
  await built(tux, healed, "2.4.66");
  await built(tux, unknown);
  await count();

  expect(idsOf(await overview("?advisories=fixed"))).toEqual([affected]);
  expect(idsOf(await overview("?advisories=open"))).toEqual([]);
  expect(await shown(unknown)).toBeUndefined();
  expect((await tux.get("/overview?advisories=bad")).status).toBe(400);

  const firefox = browser();
  await firefox.signIn(tux);
  const page = await pageOf(firefox.get("/appliances?advisories=fixed"));
  expect(textOf(page, "#found")).toContain("1 fixable advisory");
  expect(textOf(page, "#count")).toBe("1");
});

it("shows the counts of published versions, in the JSON of the list only", async () => {
  await give({ apache2: { "CVE-2026-1": resolved("2.4.66-1") } });
  const applianceId = await createAppliance(tux, { clone_from: 900 });
  await built(tux, applianceId);
  expect((await publish(tux, applianceId)).status).toBe(200);
  await count();

  const list = `/gallery/appliances?username=${tux.username}`;
  expect(await (await tux.get(list, json)).json()).toMatchObject({
    gallery: { appliances: { appliance: [{ id: applianceId, advisories: { fixed: 1, open: 0 } }] } },
  });
  expect(await (await tux.get(list)).text()).not.toContain("advisories");
  const cards = await pageOf(visit(`/gallery?username=${tux.username}`));
  expect(textOf(cards, "main")).toContain("1 fixable advisory");
  const page = await pageOf(visit(`/gallery/${applianceId}`));
  expect(textOf(page, "aside")).toContain("1 fixed in an update");
});

it("takes turns by account, and reads only the images of a turn", async () => {
  await give({ apache2: { "CVE-2026-1": resolved("2.4.66-1") } });
  const big = await built(tux, await createAppliance(tux, { clone_from: 900 }));
  const other = await signedIn();
  const small = await built(other, await createAppliance(other, { clone_from: 900 }));
  const changes = { uid: unique("uid"), download_token: unique("download_token"), version: unique("version") };
  await copyRow("builds", { id: big, times: 3000, changes });
  await env.DB.prepare(
    `INSERT OR IGNORE INTO image_packages (account_id, build_id, packages) SELECT b.account_id, b.id, i.packages
     FROM builds AS b, image_packages AS i WHERE i.build_id = ? AND b.account_id = ?`,
  )
    .bind(big, tux.accountId)
    .run();

  const ask = { after: 0, accounts: 10, imagesOfEach: 20 };
  const rows = await rowsRead(async () => {
    const turn = await listUncounted(db, ask);
    expect(turn.map(({ id }) => id)).toContain(small);
    expect(turn.filter(({ accountId }) => accountId === tux.accountId)).toHaveLength(20);
    expect((await listUncounted(db, { ...ask, after: tux.accountId })).map(({ id }) => id)).toEqual([small]);
  });
  expect([...rows.values()].reduce((sum, one) => sum + one, 0)).toBeLessThan(1000);

  for (let runs = 0; runs < 5 && (await listUncounted(db, ask)).length > 0; runs += 1) await count();
  expect(await listUncounted(db, ask)).toEqual([]);
  const { results } = await env.DB.prepare("SELECT DISTINCT advisories FROM image_packages WHERE account_id = ?")
    .bind(tux.accountId)
    .all();
  expect(results).toEqual([{ advisories: '{"fixed":1,"open":0,"undetermined":0,"unimportant":0,"exploited":0}' }]);
});

/** How often the count has written the image's row. */
async function written(id: number): Promise<number> {
  await env.DB.batch([
    env.DB.prepare("CREATE TABLE written (id)"),
    env.DB.prepare(
      "CREATE TRIGGER writes AFTER UPDATE ON image_packages BEGIN INSERT INTO written VALUES (old.build_id); END",
    ),
  ]);
  await count();
  const rows = await env.DB.prepare("SELECT id FROM written WHERE id = ?").bind(id).all();
  await env.DB.batch([env.DB.prepare("DROP TRIGGER writes"), env.DB.prepare("DROP TABLE written")]);
  return rows.results.length;
}

it("writes only counts that differ", async () => {
  const bash = { "CVE-2026-9": open };
  const zsh = { "CVE-2026-3": open };
  await give({ apache2: { "CVE-2026-1": resolved("2.4.66-1") }, bash });
  const applianceId = await createAppliance(tux, { clone_from: 900 });
  const id = await built(tux, applianceId);
  expect(await written(id)).toBe(1);
  expect(await written(id)).toBe(0);

  // First another package changes, then one of the image's. Neither changes the image's counts.
  await give({ apache2: { "CVE-2026-1": resolved("2.4.66-1") }, bash, zsh });
  expect(await written(id)).toBe(0);
  await give({ apache2: { "CVE-2026-1": resolved("2.4.67-1") }, bash, zsh });
  expect(await written(id)).toBe(0);
  await give({ apache2: { "CVE-2026-1": resolved("2.4.67-1") }, zsh });
  expect(await written(id)).toBe(1);
  expect(await shown(applianceId)).toEqual({ fixed: 1, open: 0, undetermined: 0, unimportant: 0, exploited: 0 });
});

it("counts the images of a base system again if a catalogue gives it other releases", async () => {
  await give({ apache2: { "CVE-2026-1": resolved("2.4.66-1") } });
  const applianceId = await createAppliance(tux, { clone_from: 900 });
  await built(tux, applianceId);
  await count();
  expect(await shown(applianceId)).toMatchObject({ fixed: 1 });

  const rename = env.DB.prepare(
    "UPDATE base_systems SET facts = json_set(facts, '$.advisories', json(?)) WHERE name = 'debian-test'",
  );
  await rename.bind('["other"]').run();
  await count();
  expect(await shown(applianceId)).toMatchObject({ fixed: 0 });
  await rename.bind('["test"]').run();
  await count();
  expect(await shown(applianceId)).toMatchObject({ fixed: 1 });
});
