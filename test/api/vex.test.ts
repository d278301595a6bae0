/** The signed OpenVEX document of an image, which follows the advisories. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { publicKeyOf, readEnvelope } from "#lib/attest/envelope";
import { importAdvisories } from "#domain/advisories/import";
import { findVex } from "#domain/builds/vex";
import { installedKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { listStatements, saveStatement } from "#storage/vex-statements";
import { browser } from "../support/browser.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { pageOf, textOf } from "../support/html.ts";

const db = openDatabase(env);
const json = { headers: { accept: "application/json" } };

const tracker = {
  openssl: {
    "CVE-2026-2000": { releases: { test: { status: "resolved", fixed_version: "3.0.16-1", urgency: "low" } } },
    "CVE-2026-2001": { releases: { test: { status: "open", urgency: "low" } } },
    "CVE-2026-2002": { releases: { test: { status: "undetermined" } } },
    "CVE-2026-2003": { releases: { test: { status: "open", urgency: "unimportant" } } },
    "CVE-2026-2004": { releases: { test: { status: "resolved", fixed_version: "3.0.15-1", urgency: "low" } } },
  },
};

const give = (feed: object, at = Date.now()) =>
  importAdvisories(db, { feed: "debian", origin: "data.json", body: new Blob([JSON.stringify(feed)]).stream() }, at);

let tux: Client;
let buildId: number;
beforeEach(async () => {
  await env.DB.batch([env.DB.prepare("DELETE FROM advisories"), env.DB.prepare("DELETE FROM advisory_feeds")]);
  tux = await signedIn();
  await createAppliance(tux); // loads the templates
  await loadDebian();
  buildId = await startBuild(tux, await createAppliance(tux, { clone_from: 900 }));
  const source = { name: "openssl", version: "3.0.15-1" };
  const installed = ["amd64", "i386"].map((arch) => ({
    name: "libssl3",
    version: "3.0.15",
    release: "1",
    arch,
    source,
  }));
  await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { installed });
});

afterEach(() => vi.restoreAllMocks());

const document = async (who = tux) => await who.get(`/builds/${buildId}/attestations/vex`);

async function listed(): Promise<string[]> {
  const answer = await tux.get(`/builds/${buildId}/attestations`, json);
  const { attestations } = await answer.json<{ attestations: { format: string }[] }>();
  return attestations.map(({ format }) => format);
}

async function statement(text: string) {
  const answer = await visit("/.well-known/kiln-attestation-keys.json");
  const { keys } = await answer.json<{ keys: { pem: string }[] }>();
  const opened = readEnvelope(
    text,
    keys.map(({ pem }) => publicKeyOf(pem)),
  );
  if ("why" in opened) throw new Error(`the envelope is not proven: ${opened.why}`);
  return opened.statement;
}

it("names the status of each vulnerability, by all package URLs of the bills of materials", async () => {
  const at = Date.parse("2026-11-26T10:00:00Z");
  await give(tracker, at);
  const bill = await (await tux.get(`/builds/${buildId}/attestations/cyclonedx`)).text();
  const purls = [...new Set(bill.match(/pkg:deb\/debian\/libssl3@[^"]+/g))];
  expect(purls).toHaveLength(2);

  const found = await statement(await (await document()).text());

  const of = (name: string, status: object) => ({
    vulnerability: { name },
    products: [
      {
        subcomponents: purls.map((purl) => ({ "@id": purl })),
        hashes: { "sha-256": expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ],
    ...status,
  });
  expect(found).toMatchObject({
    predicateType: "https://openvex.dev/ns/v0.2.0",
    predicate: {
      "@context": "https://openvex.dev/ns/v0.2.0",
      timestamp: "2026-11-26T10:00:00Z",
      statements: [
        of("CVE-2026-2000", { status: "affected", action_statement: "Build the image again with openssl 3.0.16-1." }),
        of("CVE-2026-2001", { status: "affected", action_statement: expect.stringContaining("no fixed version") }),
        of("CVE-2026-2002", { status: "under_investigation" }),
        of("CVE-2026-2003", { status: "not_affected", impact_statement: expect.stringContaining("no harm") }),
      ],
    },
  });
});

it("reads the list of installed packages once", async () => {
  await give(tracker);
  const build = await findAnyBuild(db, buildId);
  const read = vi.spyOn(env.BLOBS, "get");
  expect(await findVex({ env, db }, build ?? expect.fail())).toBeDefined();
  expect(read.mock.calls.filter(([key]) => key === installedKey(build?.uid ?? ""))).toHaveLength(1);
});

it("is made once for the same advisories and statements", async () => {
  await give(tracker);
  const first = await (await document()).text();
  const read = vi.spyOn(env.BLOBS, "get");
  expect(await (await document()).text()).toBe(first);
  expect(read).not.toHaveBeenCalled();
});

it("follows the feeds, and is there only if they know the base system", async () => {
  expect(await listed()).not.toContain("vex");
  const none = await document();
  expect([none.status, await none.text()]).toEqual([400, expect.stringContaining("has no advisories of its base")]);

  await give(tracker);
  expect(await listed()).toContain("vex");
  const before = await (await document()).text();
  expect(await (await document()).text()).toBe(before);

  await give({ bash: { "CVE-2026-2009": { releases: { test: { status: "open" } } } } }, Date.now() + 1000);
  expect(await statement(await (await document()).text())).toMatchObject({ predicate: { statements: [] } });
});

it("takes a statement about an announcement for each advisory that it fixes, unless the advisory has its own", async () => {
  await give(tracker);
  const announced =
    "[26 Nov 2026] DSA-9001-1 openssl - security update\n\t{CVE-2026-2000 CVE-2026-2001}\n\t[test] - openssl 3.0.16-1\n";
  await importAdvisories(db, { feed: "dsa", origin: "list", body: new Blob([announced]).stream() }, Date.now());
  const { applianceId } = (await findAnyBuild(db, buildId)) ?? expect.fail();
  const at = `/appliances/${applianceId}/vex`;
  const absent = "status=not_affected&justification=component_not_present";
  await tux.put(`${at}/dsa-9001-1?${absent}&text=It+is+absent.`, "");
  await tux.put(`${at}/CVE-2026-2001?status=under_investigation&text=Later`, "");

  const found = await statement(await (await document()).text());
  expect(found).toMatchObject({
    predicate: {
      statements: expect.arrayContaining([
        expect.objectContaining({
          vulnerability: { name: "CVE-2026-2000", aliases: ["DSA-9001-1"] },
          status: "not_affected",
          justification: "component_not_present",
        }),
        expect.objectContaining({
          vulnerability: { name: "CVE-2026-2001", aliases: ["DSA-9001-1"] },
          status: "under_investigation",
        }),
        expect.objectContaining({ vulnerability: { name: "CVE-2026-2003" }, status: "not_affected" }),
      ]),
    },
  });

  expect((await tux.delete(`${at}/DSA-9001-1`)).status).toBe(200);
  expect(JSON.stringify(await statement(await (await document()).text()))).not.toContain("component_not_present");
});

it("has what the owner states, which hides no fix from the owner", async () => {
  await give(tracker);
  const { applianceId } = (await findAnyBuild(db, buildId)) ?? expect.fail();
  const at = `/appliances/${applianceId}/vex`;
  const reason = "vulnerable_code_not_in_execute_path";
  await tux.put(`${at}/cve-2026-2000?status=not_affected&justification=${reason}&text=Its+server+is+off.`, "");
  await tux.put(`${at}/CVE-2026-2001?status=under_investigation&text=Later&build_id=${buildId}`, "");
  await tux.put(`${at}/CVE-2026-2001?status=not_affected&justification=${reason}&text=Never`, "");

  expect(await statement(await (await document()).text())).toMatchObject({
    predicate: {
      statements: [
        { vulnerability: { name: "CVE-2026-2000" }, status: "not_affected", justification: reason },
        { vulnerability: { name: "CVE-2026-2001" }, status: "under_investigation", status_notes: "Later" },
        { status: "under_investigation" },
        { status: "not_affected" },
      ],
    },
  });
  const seen = await tux.get(`/builds/${buildId}/advisories`, json);
  expect(await seen.json()).toMatchObject({
    build_advisories: {
      fixed: 1,
      advisories: [
        { state: "fixed", fixed: "3.0.16-1", statement: { status: "not_affected", text: "Its server is off." } },
        {},
        {},
        {},
      ],
    },
  });

  await tux.delete(`${at}/CVE-2026-2000`);
  expect(await (await document()).text()).not.toContain("Its server is off");
});

it("makes and withdraws a statement in the browser", async () => {
  await give(tracker);
  const { applianceId } = (await findAnyBuild(db, buildId)) ?? expect.fail();
  const firefox = browser();
  await firefox.signIn(tux);
  const form_token = await firefox.formToken();
  const page = `/appliance/${applianceId}/build`;
  const form = `/appliance/${applianceId}/builds/${buildId}/vex`;
  const stated = {
    form: `vex-${buildId}`,
    form_token,
    do: "state",
    advisory: "CVE-2026-2000",
    reason: "component_not_present",
    scope: "appliance",
  };
  const refused = await pageOf(firefox.post(form, { ...stated, text: "" }));
  expect(textOf(refused, "main")).toContain("Explain it in a text of at most 1000 characters.");
  await firefox.post(form, { ...stated, text: "We leave it out." });
  const shown = textOf(await pageOf(firefox.get(page)), "main");
  expect(shown).toContain("Not affected: The component is not in the image. We leave it out.");
  expect(shown).toContain("1 fixed in an update");

  await firefox.post(form, { form_token, do: "withdraw", advisory: "CVE-2026-2000", scope: "appliance" });
  expect(textOf(await pageOf(firefox.get(page)), "main")).not.toContain("We leave it out.");
});

it("keeps a limited number of statements, and none of a deleted image", async () => {
  const { applianceId } = (await findAnyBuild(db, buildId)) ?? expect.fail();
  const statementOf = (advisory: string, ofBuild = 0) =>
    saveStatement(
      db,
      {
        applianceId,
        advisory,
        buildId: ofBuild,
        status: "under_investigation",
        justification: null,
        text: "Soon",
        statedAt: new Date(),
      },
      2,
    );
  expect(await statementOf("CVE-1", buildId)).toBe(true);
  expect(await statementOf("CVE-2")).toBe(true);
  expect(await statementOf("CVE-3")).toBe(false);
  expect(await statementOf("CVE-2")).toBe(true);
  await env.DB.prepare("DELETE FROM builds WHERE id = ?").bind(buildId).run();
  expect((await listStatements(db, applianceId)).map(({ advisory }) => advisory)).toEqual(["CVE-2"]);
});
