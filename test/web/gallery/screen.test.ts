/** The picture of a published version's screen: an agent sends it, everyone can see it, its publisher may remove it. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { attemptHeader, maxScreenBytes, type TestdriveClaim } from "#lib/contract/index";
import { browser } from "../../support/browser.ts";
import { signedIn, visit, type Client } from "../../support/client.ts";
import { createBuild } from "../../support/factories.ts";
import { contentCount } from "../../support/files.ts";
import { galleryPath, publish, publishedAppliance } from "../../support/gallery.ts";
import { pageOf } from "../../support/html.ts";
import { claimTestdrive, until } from "../../support/testdrives.ts";
import { pngOf } from "../../picture/png-maker.ts";

let publisher: Client;
let tux: Client;
let applianceId: number;
beforeEach(async () => {
  [publisher, tux] = [await signedIn(), await signedIn()];
  ({ applianceId } = await publishedAppliance(publisher));
});

/** Starts a testdrive, and claims it as an agent. */
async function claimed(start: () => Promise<Response>): Promise<TestdriveClaim> {
  const [claim, answer] = await Promise.all([
    until(async () => {
      const { testdrive } = await (await claimTestdrive()).json<{ testdrive: TestdriveClaim | null }>();
      return testdrive ?? undefined;
    }),
    start(),
  ]);
  if (!answer.ok) throw new Error(await answer.text());
  return claim;
}

const tried = () => claimed(() => tux.post(galleryPath(applianceId, "/testdrive")));
const send = async ({ testdriveId, token }: TestdriveClaim, png: Uint8Array<ArrayBuffer>) => {
  const headers = { authorization: `Bearer ${env.AGENT_TOKEN}`, [attemptHeader]: token, "content-type": "image/png" };
  return (await visit(`/agent/testdrives/${testdriveId}/screen`, { method: "POST", headers, body: png })).status;
};
const screen = (width = 72) => pngOf(width, 40);
const addressOn = async (path: string, look: string) =>
  (await pageOf(visit(path))).querySelector(`${look} img.screen`)?.getAttribute("src") ?? undefined;
const shown = () => addressOn(`/gallery/${applianceId}`, "#screen");

async function remove(who: Client): Promise<number> {
  const firefox = browser();
  await firefox.beginSession(who);
  const form = { form_token: await firefox.formToken() };
  return (await firefox.post(`/gallery/${applianceId}/0.0.1/screen/remove`, form)).status;
}

describe("the screen of a published version", () => {
  it("is asked of the first testdrive, and shown to everyone", async () => {
    expect(await shown()).toBeUndefined();
    const claim = await tried();
    expect(claim.wantsScreen).toBe(true);
    expect(await send(claim, screen())).toBe(204);
    const address = (await shown()) ?? "";
    expect(address).toMatch(new RegExp(`^/gallery/${applianceId}/0\\.0\\.1/screen\\?[0-9a-f]{8}$`));
    const answer = await visit(address);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(new DataView(await answer.arrayBuffer()).getUint32(16)).toBe(72);
    expect(await addressOn("/gallery?order=latest", ".card")).toBe(address);
  });

  it("is taken once", async () => {
    const [first, second] = [await tried(), await tried()];
    await send(first, screen());
    const [address, contents] = [await shown(), await contentCount()];
    expect((await tried()).wantsScreen).toBe(false);
    expect(await send(second, screen(60))).toBe(204);
    expect([await shown(), await contentCount()]).toEqual([address, contents]);
  });

  it("is removed by its publisher alone, and no other is taken", async () => {
    await send(await tried(), screen());
    const address = (await shown()) ?? "";
    expect(await remove(tux)).toBe(403);
    expect(await shown()).toBe(address);
    expect(await remove(publisher)).toBe(303);
    expect(await shown()).toBeUndefined();
    expect((await visit(address)).status).toBe(404);
    expect((await tried()).wantsScreen).toBe(false);
  });

  it("goes with the version, and so does its blob", async () => {
    await send(await tried(), screen());
    const address = (await shown()) ?? "";
    const blobId = await env.DB.prepare("SELECT screen_blob AS one FROM publications WHERE appliance_id = ?")
      .bind(applianceId)
      .first<string>("one");
    await publisher.delete(galleryPath(applianceId, "/version/0.0.1"));
    expect((await visit(address)).status).toBe(404);
    const released = env.DB.prepare("SELECT count(*) AS count FROM released_blobs WHERE blob_id = ?").bind(blobId);
    expect(await released.first("count")).toBe(1);
    await publish(publisher, applianceId);
    expect(await shown()).toBeUndefined();
  });

  it.each([
    ["is no PNG", () => new Uint8Array(100)],
    ["is damaged", () => screen().slice(0, -20)],
    ["is too wide", () => pngOf(3000, 1)],
  ])("is not one that %s", async (_, png) => {
    const contents = await contentCount();
    expect(await send(await tried(), png())).toBe(204);
    expect([await shown(), await contentCount()]).toEqual([undefined, contents]);
  });

  it("is refused if it is too large, or of another attempt", async () => {
    const claim = await tried();
    expect(await send(claim, new Uint8Array(maxScreenBytes + 1))).toBe(413);
    expect(await send({ ...claim, token: (await tried()).token }, screen())).toBe(410);
    expect(await shown()).toBeUndefined();
  });
});

it("is never taken of an image that is not published", async () => {
  const { buildId } = await createBuild(tux);
  const contents = await contentCount();
  const claim = await claimed(() => tux.post("/testdrives", { build_id: buildId }));
  expect(claim.wantsScreen).toBe(false);
  expect(await send(claim, screen())).toBe(204);
  expect(await contentCount()).toBe(contents);
});
