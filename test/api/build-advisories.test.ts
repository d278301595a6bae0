/** Advisories of feeds: how the operator adds them, and which images they affect. */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { importAdvisories } from "#domain/advisories/import";
import { installedKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { saveAdvisoryCounts } from "#storage/image-advisories";
import { imagePackages } from "#storage/schema";
import { browser } from "../support/browser.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { pageOf, textOf } from "../support/html.ts";
import { takeChores } from "../support/sweep.ts";

const db = openDatabase(env);
const json = { headers: { accept: "application/json" } };
const run = (chore: string, at = Date.now()) => takeChores([{ body: { chore, at } }]);

const give = (feed: string, body: string) =>
  visit(`/admin/advisories/${feed}?origin=data.json`, {
    method: "PUT",
    headers: { authorization: `Bearer ${env.ADMIN_SECRET}` },
    body,
  });

const resolved = (fixed_version: string) => ({ status: "resolved", fixed_version, urgency: "not yet assigned" });
const tracker = (apacheFixed: string, more: object = {}) =>
  JSON.stringify({
    apache2: {
      "CVE-2026-1000": { releases: { test: resolved(apacheFixed), other: resolved("9") } },
      "CVE-2026-1001": { releases: { test: { status: "open", urgency: "low" } } },
    },
    ...more,
  });

let tux: Client;
let buildId: number;
let applianceId: number;
beforeEach(async () => {
  await env.DB.batch([env.DB.prepare("DELETE FROM advisories"), env.DB.prepare("DELETE FROM advisory_feeds")]);
  tux = await signedIn();
  await createAppliance(tux); // loads the templates
  await loadDebian();
  applianceId = await createAppliance(tux, { clone_from: 900 });
  buildId = await startBuild(tux, applianceId);
  const installed = [
    {
      name: "apache2-bin",
      version: "2.4.65",
      release: "1~deb12u1",
      arch: "amd64",
      source: { name: "apache2", version: "2.4.65-1~deb12u1" },
    },
  ];
  await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { installed });
  await run("listInstalledPackages");
});
afterEach(() => vi.restoreAllMocks());

const advisories = async () => {
  const answer = await tux.get(`/builds/${buildId}/advisories`, json);
  return (await answer.json<{ build_advisories: Record<string, unknown> }>()).build_advisories;
};
const imagesWith = async (cve: string, who = tux) => {
  const answer = await who.get(`/account/images?cve=${cve}`, json);
  return await answer.json<{ images?: { build_id: number; packages: object[] }[]; error?: { message: string } }>();
};

const follow = (to: string) => operate("PUT", "/advisories/osv/url", { url: to });

const feeds = async () => (await advisories())["feeds"];

const all = (fixed: string) =>
  JSON.stringify(
    Object.fromEntries(
      Array.from({ length: 4000 }, (_, nth) => [
        `source${nth}`,
        Object.fromEntries(
          Array.from({ length: 10 }, (_, cve) => [
            `CVE-2025-${nth * 10 + cve}`,
            { releases: { test: resolved(nth === 7 ? fixed : "1-1"), other: { status: "open" } } },
          ]),
        ),
      ]),
    ),
  );

const given = (text: string) => ({ feed: "debian" as const, origin: "big", body: new Blob([text]).stream() });

const busy = () => new Response("busy", { status: 503 });

it("shows the advisories of an image, and the images of an advisory", async () => {
  expect((await give("debian", tracker("2.4.66-1~deb12u1"))).status).toBe(200);

  expect(await advisories()).toMatchObject({
    build_id: buildId,
    known: true,
    fixed: 1,
    open: 1,
    advisories: [
      {
        id: "CVE-2026-1000",
        state: "fixed",
        source: "apache2",
        installed: "2.4.65-1~deb12u1",
        fixed: "2.4.66-1~deb12u1",
        packages: ["apache2-bin"],
      },
      { id: "CVE-2026-1001", state: "open", urgency: "low" },
    ],
    feeds: [{ name: "debian", origin: "data.json" }],
  });
  expect(await imagesWith("cve-2026-1000")).toMatchObject({
    images: [{ build_id: buildId, packages: [{ name: "apache2-bin", state: "fixed", fixed: "2.4.66-1~deb12u1" }] }],
  });
  expect(await imagesWith("CVE-2026-1000", await signedIn())).toEqual({ images: [] });
  expect((await imagesWith("CVE-1999-1")).error?.message).toMatch(
    /^Kiln does not know the advisory CVE-1999-1. Its feeds: debian, read on \d{4}/,
  );

  const firefox = browser();
  await firefox.signIn(tux);
  const page = await pageOf(firefox.get(`/appliance/${applianceId}/build`));
  expect(textOf(page, "main")).toContain("1 fixed in an update, 1 not fixed yet");
  expect(textOf(page, "main")).toContain("The appliance's repositories do not have the fixed versions.");
  const found = await pageOf(firefox.get("/appliances/images?with=cve-2026-1001"));
  expect(textOf(found, "tbody")).toContain("apache2-bin 2.4.65-1~deb12u1 (not fixed yet)");
  const unknown = await pageOf(firefox.get("/appliances/images?with=CVE-1999-1"));
  expect(textOf(unknown, "main")).toContain("Kiln does not know the advisory CVE-1999-1.");
});

const inOsv = {
  id: "DSA-6001-1",
  upstream: ["CVE-2026-1000"],
  affected: [
    {
      package: { ecosystem: "Debian:test", name: "apache2" },
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "2.4.66-1~deb12u1" }] }],
    },
  ],
};
const inList = `[27 Nov 2026] DSA-6001-1 apache2 - security update
\t{CVE-2026-1000}
\t[test] - apache2 2.4.66-1~deb12u1
`;

it.each([
  ["osv", JSON.stringify(inOsv)],
  ["dsa", inList],
])("shows and finds the announcement of a fix beside its CVE: %s", async (feed, text) => {
  expect((await give("debian", tracker("2.4.66-1~deb12u1"))).status).toBe(200);
  expect((await give(feed, text)).status).toBe(200);

  expect(await advisories()).toMatchObject({
    fixed: 1,
    advisories: [
      { id: "CVE-2026-1000", aliases: ["DSA-6001-1"], urgency: "not yet assigned" },
      { id: "CVE-2026-1001" },
    ],
  });
  expect(await imagesWith("dsa-6001-1")).toMatchObject({
    images: [{ build_id: buildId, packages: [{ name: "apache2-bin", state: "fixed", fixed: "2.4.66-1~deb12u1" }] }],
  });

  const vex = await (await tux.get(`/builds/${buildId}/attestations/vex`)).json<{ payload: string }>();
  const { predicate } = JSON.parse(atob(vex.payload));
  expect(predicate.statements[0].vulnerability).toEqual({ name: "CVE-2026-1000", aliases: ["DSA-6001-1"] });

  const firefox = browser();
  await firefox.signIn(tux);
  const page = await pageOf(firefox.get(`/appliance/${applianceId}/build`));
  expect(textOf(page, "main")).toContain("CVE-2026-1000 DSA-6001-1");
  const found = await pageOf(firefox.get("/appliances/images?with=DSA-6001-1"));
  expect(textOf(found, "tbody")).toContain("apache2-bin 2.4.65-1~deb12u1");
});

it("shows the page of builds without them if the list of packages is gone", async () => {
  await give("debian", tracker("2.4.66-1~deb12u1"));
  const firefox = browser();
  await firefox.signIn(tux);
  const build = await findAnyBuild(db, buildId);
  await env.BLOBS.delete(installedKey(build?.uid ?? ""));
  const answer = await firefox.get(`/appliance/${applianceId}/build`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).not.toContain("Advisories of");
});

it("forgets what the next import no longer has, but nothing if that import fails", async () => {
  await give("debian", tracker("2.4.66-1~deb12u1"));
  const broken = await give("debian", tracker("2.4.64-1").slice(0, -1));
  expect(broken.status).toBe(400);
  expect(await advisories()).toMatchObject({ feeds: [{ name: "debian" }] });

  await give("debian", tracker("2.4.65-1~deb12u1"));
  expect(await advisories()).toMatchObject({ fixed: 0, open: 1 });
  await give("debian", JSON.stringify({ bash: { "CVE-2026-1002": { releases: { test: { status: "open" } } } } }));
  expect(await advisories()).toMatchObject({ fixed: 0, open: 0, advisories: [] });
  expect((await give("debian", "{}")).status).toBe(400);
});

it("reads a feed from its URL once a day, and notes why it cannot", async () => {
  const url = "https://tracker.example.org/data/json";
  expect((await follow("http://127.0.0.1/data")).status).toBe(400);
  expect((await follow(url)).status).toBe(200);
  const affected = [
    {
      package: { ecosystem: "Debian:test", name: "apache2" },
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "2.4.66-1" }] }],
    },
  ];
  let answer: () => Response = busy;
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async () => answer());

  await run("readFeeds");
  expect(await feeds()).toContainEqual({ name: "osv", problem: `${url} answers with status 503.` });
  await run("readFeeds");
  expect(asked).toHaveBeenCalledTimes(1);

  const hourMs = 60 * 60_000;
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytesOf("[")),
    pull: (controller) => controller.error(new Error("reset")),
  });
  answer = () => new Response(broken);
  await run("readFeeds", Date.now() + hourMs);
  expect(await feeds()).toContainEqual({ name: "osv", problem: "The connection broke before its end." });

  answer = () => Response.json([{ id: "DSA-9-1", aliases: ["CVE-2026-1003"], affected }]);
  await run("readFeeds", Date.now() + 2 * hourMs);
  expect(await feeds()).toContainEqual({ name: "osv", origin: url, read_at: expect.any(String) });
  expect(await imagesWith("CVE-2026-1003")).toMatchObject({ images: [{ build_id: buildId }] });
});

it("counts an image again if two runs have stored different counts", async () => {
  await give("debian", tracker("2.4.66-1~deb12u1"));
  await run("countImageAdvisories");
  const rowNow = () => db.query.imagePackages.findFirst({ where: eq(imagePackages.buildId, buildId) });
  const counted = await rowNow();
  expect(counted?.isCounted).toBe(true);

  // A run that read older advisories, and before the other one had stored anything.
  const late = { id: buildId, accountId: tux.accountId, packageIds: [], before: null, counts: null };
  await saveAdvisoryCounts(db, [late]);
  expect(await rowNow()).toEqual({ ...counted, isCounted: false });
  await run("countImageAdvisories");
  expect(await rowNow()).toEqual(counted);
});

it("writes only what has changed in a tracker with 40,000 CVEs", async () => {
  expect(await importAdvisories(db, given(all("1-1")), 1)).toBe(8000);
  const written = async () => {
    const [{ n } = { n: 0 }] = await db.all<{ n: number }>("SELECT total_changes() AS n");
    return n;
  };
  const before = await written();
  expect(await importAdvisories(db, given(all("1-2")), 2)).toBe(8000);
  expect((await written()) - before).toBeLessThan(100);
});
