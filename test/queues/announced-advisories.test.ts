/** The sweep notifies owners when an update fixes advisories about their images. */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import { importAdvisories } from "#domain/advisories/import";
import { sendOutbox } from "#domain/events/events";
import type { AdvisoryFeed } from "#model/advisory";
import { openDatabase } from "#storage/db";
import { eventOutbox } from "#storage/schema";
import { browser } from "../support/browser.ts";
import { signedIn, type Client } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { pageOf, textOf } from "../support/html.ts";
import { takeChores } from "../support/sweep.ts";

const db = openDatabase(env);
const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const fix = "2.4.66-1~deb12u1";

let tux: Client;
let mirror: Awaited<ReturnType<typeof loadDebian>>;
let applianceId: number;
let buildId: number;
let feedAt = Date.now();

const run = (chore: string, ms = 0) => takeChores([{ body: { chore, at: Date.now() + ms } }]);
const give = (feed: AdvisoryFeed, content: object) =>
  importAdvisories(db, { feed, origin: "a file", body: new Blob([JSON.stringify(content)]).stream() }, ++feedAt);
const tracker = (...ids: string[]) => ({
  apache2: Object.fromEntries(
    ids.map((id) => [id, { releases: { test: { status: "resolved", fixed_version: fix } } }]),
  ),
});
const exploited = (...ids: string[]) => ({ title: "A catalogue", vulnerabilities: ids.map((cveID) => ({ cveID })) });

beforeEach(async () => {
  await env.DB.batch(
    ["advisories", "advisory_feeds", "advisory_changes", "exploited_advisories"].map((table) =>
      env.DB.prepare(`DELETE FROM ${table}`),
    ),
  );
  tux = await signedIn();
  await createAppliance(tux); // loads the templates
  mirror = await loadDebian();
  applianceId = await createAppliance(tux, { clone_from: 900 });
  buildId = await startBuild(tux, applianceId);
  const installed = [{ name: "apache2", version: "2.4.65", release: "1~deb12u1", arch: "amd64" }];
  await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { installed });
  await run("listInstalledPackages");
});

/** Checks only this appliance if it is due at that time. Others are due at other times. */
async function look(ms = 0): Promise<void> {
  const later = Date.now() + 1000 * dayMs;
  await env.DB.prepare("UPDATE watches SET look_at = ? WHERE appliance_id <> ?").bind(later, applianceId).run();
  await run("watchImages", ms);
}

const told = async () => {
  const rows = await db.query.eventOutbox.findMany({ where: eq(eventOutbox.accountId, tux.accountId) });
  return rows.flatMap(({ announcement: { event, subject } }) =>
    event === "image.affected" && "image" in subject ? [subject.image] : [],
  );
};

const list = async () => {
  const answer = await tux.get(`/builds/${buildId}/advisories`, { headers: { accept: "application/json" } });
  return (await answer.json<{ build_advisories: { known: boolean; advisories: object[] } }>()).build_advisories;
};

it("announces once a day that an update in the repositories fixes them", async () => {
  await give("debian", tracker("CVE-2026-1001"));
  await look();
  expect(await told()).toEqual([]);

  await mirror.publish({ security: [`apache2 ${fix}`] });
  await look(dayMs + hourMs);
  const first = { build_id: buildId, appliance_id: applianceId, fixed: 1, exploited: 0, advisories: ["CVE-2026-1001"] };
  expect(await told()).toEqual([expect.objectContaining(first)]);

  await give("debian", tracker("CVE-2026-1001", "CVE-2026-1002"));
  await env.DB.prepare("UPDATE watches SET look_at = 0").run();
  await look(dayMs + 2 * hourMs);
  expect(await told()).toHaveLength(1);
  await look(3 * dayMs);
  expect(await told()).toEqual([
    expect.objectContaining(first),
    expect.objectContaining({ fixed: 2, advisories: ["CVE-2026-1002", "CVE-2026-1001"] }),
  ]);
  await look(6 * dayMs);
  expect(await told()).toHaveLength(2);

  await sendOutbox({ env, db });
  expect(await (await tux.get("/feed")).text()).toContain("lacks fixes of 2 vulnerabilities</title>");
});

it("announces one that is known to be exploited immediately", async () => {
  await give("debian", tracker("CVE-2026-1001", "CVE-2026-1002"));
  await mirror.publish({ security: [`apache2 ${fix}`] });
  await run("countImageAdvisories");
  await look();
  expect(await told()).toMatchObject([{ fixed: 2, exploited: 0 }]);

  await give("exploited", exploited("CVE-2026-1001", "CVE-1999-1000"));
  await look(hourMs);
  expect(await told()).toHaveLength(1);
  await run("countImageAdvisories");
  await look(hourMs);
  expect((await told())[1]).toMatchObject({ fixed: 2, exploited: 1, advisories: ["CVE-2026-1001", "CVE-2026-1002"] });

  await run("countImageAdvisories");
  await look(2 * hourMs);
  expect(await told()).toHaveLength(2);
  const outbox = await db.query.eventOutbox.findMany({ where: eq(eventOutbox.accountId, tux.accountId) });
  const affected = outbox.filter(({ announcement: { event } }) => event === "image.affected");
  expect(affected.map(({ announcement: { isUrgent } }) => isUrgent)).toEqual([false, true]);
  await sendOutbox({ env, db });
  expect(await (await tux.get("/feed")).text()).toContain("lacks fixes of 2 vulnerabilities, 1 of them exploited");
});

it("does not tell of one that does not concern the image, as its owner states", async () => {
  await give("debian", tracker("CVE-2026-1001"));
  await mirror.publish({ security: [`apache2 ${fix}`] });
  const because = "status=not_affected&justification=component_not_present&text=It+is+off.";
  const stated = await tux.put(`/appliances/${applianceId}/vex/CVE-2026-1001?${because}`, "");
  expect(stated.status).toBe(200);
  await look();
  expect(await told()).toEqual([]);
});

it("marks the exploited ones in the list of an image, and lists them first", async () => {
  await give("exploited", exploited("CVE-2026-1001"));
  expect(await list()).toMatchObject({ known: false });
  await give("debian", tracker("CVE-2026-1001", "CVE-2026-1002"));
  expect((await list()).advisories).toMatchObject([
    { id: "CVE-2026-1001", exploited: true },
    { id: "CVE-2026-1002", exploited: false },
  ]);
  await expect(give("exploited", { vulnerabilities: [{ id: "CVE-2026-1001" }] })).rejects.toThrow("does not match");
});

it("counts the exploited ones in the lists of appliances", async () => {
  await give("debian", tracker("CVE-2026-1001", "CVE-2026-1002"));
  await give("exploited", exploited("CVE-2026-1002"));
  await run("countImageAdvisories");

  const answer = await tux.get("/overview?advisories=fixed", { headers: { accept: "application/json" } });
  const worst = { fixed: 2, open: 0, exploited: 1 };
  expect(await answer.json()).toMatchObject({ overview: { appliance: [{ advisories: worst }] } });
  expect(await list()).toMatchObject({ fixed: 2, exploited: 1 });
  const firefox = browser();
  await firefox.signIn(tux);
  const page = await pageOf(firefox.get("/appliances?advisories=fixed"));
  expect(textOf(page, "#found")).toContain("2 fixable advisories, 1 exploited");
});
