/** Channels of an appliance, and their addresses, which need no account. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acceptReport } from "#domain/checks/report";
import type { CheckResult } from "#lib/contract/index";
import { listCheckRuns, takeCheckRun } from "#storage/check-runs";
import { checkReport } from "../support/check-report.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { galleryPath, publish } from "../support/gallery.ts";
import { db } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";

const json = { headers: { accept: "application/json" } };
let tux: Client;
let id: number;
beforeAll(async () => {
  tux = await signedIn();
});
beforeEach(async () => {
  id = await createAppliance(tux, { name: "Reading room" });
});

interface Channel {
  name: string;
  automatic: boolean;
  version?: string;
  images: { image_type: string; url: string; sha256: string; file_name: string }[];
}

const channelsAt = async (path: string, who = tux) =>
  (await (await who.get(path, json)).json<{ channels: Channel[] }>()).channels;
const channels = () => channelsAt(`/appliances/${id}/channels`);
const heads = async () => Object.fromEntries((await channels()).map(({ name, version }) => [name, version]));
const set = (name: string, query = "") => tux.put(`/appliances/${id}/channels/${name}?${query}`, "");
const image = (version: string) => bytesOf(`the image of ${version} of ${id}`);

/** Builds a version in some formats. Returns the ids of the builds. */
async function build(version: string, ...types: string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const image_type of types.length === 0 ? ["oem"] : types) {
    const buildId = await startBuild(tux, id, { version, image_type, ...(ids.length > 0 && { multi: "true" }) });
    await (
      await fakeAgent()
    ).buildsSuccessfully(buildId, image(version), { fileName: `Room-${version}.${image_type}` });
    ids.push(buildId);
  }
  return ids;
}

/** As if all versions before had been built. */
const nextIs = (version: string) =>
  env.DB.prepare("UPDATE appliances SET version = ? WHERE id = ?").bind(version, id).run();

async function released(version: string, ...types: string[]): Promise<number[]> {
  const ids = await build(version, ...types);
  expect((await publish(tux, id, version)).status).toBe(200);
  return ids;
}

const at = (rest: string, { username } = tux) => `/image/${username}/${id}/${rest}`;
const open = (path: string, init: RequestInit = {}) => visit(path, { redirect: "manual", ...init });
const follow = async (path: string) => await open((await open(path)).headers.get("location") ?? "/nowhere");

describe("a channel", () => {
  it("has the version that a person moves it to, and its images with their addresses", async () => {
    await released("0.0.1", "oem", "iso");
    expect((await set("stable", "version=0.0.1")).status).toBe(200);
    const [stable, ...others] = await channels();
    expect(others).toEqual([]);
    expect(stable).toMatchObject({ name: "stable", automatic: false, version: "0.0.1" });
    expect(stable?.images.map(({ image_type, url }) => [image_type, url])).toEqual([
      ["oem", `https://kiln.test${at("stable/oem")}`],
      ["iso", `https://kiln.test${at("stable/iso")}`],
    ]);

    await released("0.0.2");
    expect(await heads()).toEqual({ stable: "0.0.1" });
    await set("stable", "version=0.0.2");
    expect(await heads()).toEqual({ stable: "0.0.2" });
  });

  it("moves to each newer published version if it is automatic, and never to an older one", async () => {
    await set("testing", "automatic=true");
    await set("stable");
    await nextIs("0.0.9");
    await released("0.0.9");
    await released("0.0.10");
    expect(await heads()).toEqual({ testing: "0.0.10", stable: undefined });
    await nextIs("0.0.2");
    await released("0.0.2");
    expect(await heads()).toEqual({ testing: "0.0.10", stable: undefined });
  });

  it("takes the newest published version when it becomes automatic", async () => {
    await released("0.0.1");
    await released("0.0.2");
    await set("stable", "version=0.0.1");
    await set("stable", "automatic=true");
    expect(await channels()).toMatchObject([{ version: "0.0.2", automatic: true }]);
  });

  it("stays where a person has moved it back to", async () => {
    await set("stable", "automatic=true");
    await released("0.0.1");
    await released("0.0.2");
    await set("stable", "version=0.0.1");
    expect(await channels()).toMatchObject([{ version: "0.0.1", automatic: false }]);
    await released("0.0.3");
    expect(await heads()).toEqual({ stable: "0.0.1" });
  });

  it("has the version before again when its head is withdrawn, but none that it was moved back from", async () => {
    await released("0.0.1");
    await released("0.0.2");
    await released("0.0.3");
    for (const version of ["0.0.1", "0.0.3", "0.0.2"]) await set("stable", `version=${version}`);
    await set("rolled-back", "version=0.0.3");
    await set("rolled-back", "version=0.0.1");
    await set("rolled-back", "version=0.0.2");
    await set("rolled-back", "version=0.0.1");

    await tux.delete(galleryPath(id, "/version/0.0.2"));
    expect(await heads()).toEqual({ "rolled-back": "0.0.1", stable: "0.0.3" });
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    expect(await heads()).toEqual({ "rolled-back": "0.0.3", stable: "0.0.3" });
    await tux.delete(galleryPath(id, "/version/0.0.3"));
    expect(await heads()).toEqual({ "rolled-back": undefined, stable: undefined });
  });

  it.each(["Stable", "0.0.1", "-x", "a".repeat(33), "a%2Fb"])("cannot be called %s", async (name) => {
    const answer = await set(name);
    expect([answer.status, (await readXml(answer)).error.code]).toEqual([400, "invalid_value"]);
    expect(await channels()).toEqual([]);
  });

  it("has no version that is not published", async () => {
    await build("0.0.1");
    const answer = await set("stable", "version=0.0.1");
    expect([answer.status, (await readXml(answer)).error.code]).toEqual([400, "version_not_published"]);
    expect(await channels()).toEqual([]);
  });

  it("is one of at most eight", async () => {
    for (let nth = 1; nth <= 8; nth += 1) expect((await set(`c${nth}`)).status).toBe(200);
    expect((await set("c9")).status).toBe(400);
    expect((await set("c8", "automatic=true")).status).toBe(200);
    expect(await channels()).toHaveLength(8);
    expect((await tux.delete(`/appliances/${id}/channels/c1`)).status).toBe(200);
    expect((await tux.delete(`/appliances/${id}/channels/c1`)).status).toBe(404);
    expect((await set("c9")).status).toBe(200);
  });

  it("is gone with its appliance", async () => {
    await set("stable");
    await tux.delete(`/appliances/${id}`);
    const left = await env.DB.prepare("SELECT count(*) AS count FROM channels WHERE appliance_id = ?").bind(id).first();
    expect(left).toEqual({ count: 0 });
  });
});

const configure = (publish_when: string) =>
  tux.put(
    `/appliances/${id}/configuration`,
    JSON.stringify({ configuration: { checks: [{ kind: "login" }], settings: { publish_when } } }),
    "application/json",
  );

/** An agent runs the checks of a build. */
async function checked(buildId: number, result: CheckResult): Promise<void> {
  await tux.post(`/builds/${buildId}/checks`);
  const [run] = await listCheckRuns(db, buildId);
  if (!run) throw new Error("the checks were not requested");
  const testdriveUid = crypto.randomUUID();
  expect(await takeCheckRun(db, run, { testdriveUid, wakeAt: new Date(Date.now() + 600_000) })).toBe(true);
  expect(await acceptReport({ env, db }, testdriveUid, checkReport([result]))).toBe("stored");
  expect(await acceptReport({ env, db }, testdriveUid, checkReport([result]))).toBe("stored");
}

describe("checks", () => {
  const passed: CheckResult = { outcome: "passed", seen: "It came.", seconds: 12 };
  const failed: CheckResult = { outcome: "failed", seen: "", seconds: 12 };

  it("that have not passed keep an automatic channel where it is, until they pass", async () => {
    await configure("always");
    await set("stable", "automatic=true");
    const [first = 0] = await released("0.0.1");
    expect(await heads()).toEqual({ stable: undefined });
    await checked(first, failed);
    expect(await heads()).toEqual({ stable: undefined });
    await checked(first, passed);
    expect(await heads()).toEqual({ stable: "0.0.1" });

    const [second = 0] = await build("0.0.2");
    await checked(second, passed);
    expect(await heads()).toEqual({ stable: "0.0.1" });
    await publish(tux, id, "0.0.2");
    expect(await heads()).toEqual({ stable: "0.0.2" });
    await checked(first, passed);
    expect(await heads()).toEqual({ stable: "0.0.2" });
  });

  it("that the appliance demands keep an unchecked version out of a channel", async () => {
    await configure("always");
    const [only = 0] = await released("0.0.1");
    await configure("checked");
    const answer = await set("stable", "version=0.0.1");
    expect([answer.status, (await readXml(answer)).error.message]).toEqual([
      400,
      "Version 0.0.1 (oem) cannot be at the head of a channel: its checks have not ended yet.",
    ]);
    await checked(only, passed);
    expect((await set("stable", "version=0.0.1")).status).toBe(200);
  });
});

describe("the address of a channel", () => {
  it("redirects without an account to the file with its name", async () => {
    await released("0.0.1", "oem", "iso");
    await set("stable", "version=0.0.1");
    const answer = await open(at("stable/oem"));
    const etag = answer.headers.get("etag") ?? "";
    expect([answer.status, answer.headers.get("location")]).toEqual([302, at("0.0.1/oem/Room-0.0.1.oem")]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
    const again = await open(at("stable/oem"), { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await open(at("stable/oem"), { method: "HEAD" });
    expect([head.status, head.headers.get("location")]).toEqual([302, at("0.0.1/oem/Room-0.0.1.oem")]);

    const file = await follow(at("stable/oem"));
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="Room-0.0.1.oem"');
    expect(file.headers.get("cache-control")).toBe("no-cache");
    expect(await file.bytes()).toEqual(image("0.0.1"));
    const part = await open(at("0.0.1/oem/Room-0.0.1.oem"), { headers: { range: "bytes=4-8" } });
    expect([part.status, await part.text()]).toEqual([206, "image"]);
    expect((await open(at("0.0.1/oem/Room-0.0.1.oem"), { method: "HEAD" })).status).toBe(200);

    await released("0.0.2");
    await set("stable", "version=0.0.2");
    const moved = await open(at("stable/oem"), { headers: { "if-none-match": etag } });
    expect([moved.status, moved.headers.get("location")]).toEqual([302, at("0.0.2/oem/Room-0.0.2.oem")]);
    // A download that began before the move can continue.
    expect((await open(at("0.0.1/oem/Room-0.0.1.oem"))).status).toBe(200);
  });

  it("has the checksum and the documents about the image next to it", async () => {
    await released("0.0.1");
    await set("stable", "version=0.0.1");
    const [stable] = await channels();
    const checksum = await follow(at("stable/oem.sha256"));
    expect(checksum.headers.get("content-disposition")).toContain("Room-0.0.1.oem.sha256");
    expect(await checksum.text()).toBe(`${stable?.images[0]?.sha256}  Room-0.0.1.oem\n`);
    const provenance = await follow(at("stable/oem.intoto.jsonl"));
    expect(provenance.headers.get("content-type")).toBe("application/vnd.in-toto.bundle");
    const spdx = await (await follow(at("stable/oem.spdx.json"))).json();
    expect(spdx).toMatchObject({ spdxVersion: "SPDX-2.3" });
    expect((await follow(at("stable/oem.cdx.json"))).status).toBe(200);
  });

  it("names the appliance by its id, so it stays when the appliance gets another name", async () => {
    await released("0.0.1");
    await set("stable", "version=0.0.1");
    const name = "<configuration><name>Other</name></configuration>";
    expect((await tux.put(`/appliances/${id}/configuration`, name)).status).toBe(200);
    expect((await open(at("stable/oem"))).status).toBe(302);
  });

  it("says what is there if the channel has no such image, or no version", async () => {
    await released("0.0.1", "oem", "iso");
    await released("0.0.2");
    await set("stable", "version=0.0.1");
    const wrong = await open(at("stable/vmx"));
    expect([wrong.status, await wrong.text()]).toEqual([
      404,
      "Version 0.0.1, which is in the channel stable, has no such format. It has: oem, iso.\n",
    ]);
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    const none = await open(at("stable/oem"));
    expect([none.status, await none.text()]).toEqual([404, "No version is in the channel stable at the moment.\n"]);
    expect((await open(at("0.0.1/oem/Room-0.0.1.oem"))).status).toBe(404);
  });

  it("does not tell an unpublished appliance from an unknown one", async () => {
    await build("0.0.1");
    await set("stable");
    const unknown = await open("/image/nobody/1/stable/oem");
    const body = await unknown.text();
    expect([unknown.status, body]).toEqual([404, "There is no such file.\n"]);
    const stranger = await signedIn();
    await publish(tux, id, "0.0.1");
    await set("stable", "version=0.0.1");
    const others = [
      at("stable/oem", stranger),
      at("testing/oem"),
      `/image/${tux.username}/999999999/stable/oem`,
      `/image/${tux.username}/x/stable/oem`,
      "/image/%2F/%00/%F0/%9F",
      at("0.0.1/iso/Room-0.0.1.oem"),
      at("0.0.1/oem/Room-0.0.1.iso"),
    ];
    for (const path of others) {
      const answer = await open(path);
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, body]);
    }
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    const withdrawn = await open(at("stable/oem"));
    expect([withdrawn.status, await withdrawn.text()]).toEqual([404, body]);
  });

  it("leads to no published version that was in no channel", async () => {
    await released("0.0.1");
    expect((await open(at("0.0.1/oem/Room-0.0.1.oem"))).status).toBe(404);
  });
});

describe("other accounts", () => {
  it("see the channels of a published appliance, and change none", async () => {
    const odo = await signedIn();
    await released("0.0.1");
    await set("stable", "version=0.0.1");
    await set("empty");
    expect((await channelsAt(galleryPath(id, "/channels"), odo)).map(({ name }) => name)).toEqual(["stable"]);
    expect((await odo.get(`/appliances/${id}/channels`)).status).toBe(404);
    expect((await odo.put(`/appliances/${id}/channels/stable?automatic=true`, "")).status).toBe(404);
    expect((await odo.delete(`/appliances/${id}/channels/stable`)).status).toBe(404);
    await tux.post(`/appliances/${id}/sharing/${odo.username}`);
    expect((await odo.delete(`/appliances/${id}/channels/stable`)).status).toBe(403);
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    expect((await odo.get(galleryPath(id, "/channels"))).status).toBe(403);
  });
});
