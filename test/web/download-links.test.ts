import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { createAccount } from "#domain/accounts/account";
import { openDatabase } from "#storage/db";
import { builds, tokens } from "#storage/schema";
import { operate, signedIn, visit, withKey, type Client } from "../support/client.ts";
import { createBuild } from "../support/factories.ts";
import { bytesOf, result, sha256 } from "../support/fake-agent.ts";
import { galleryPath, publish } from "../support/gallery.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
const image = bytesOf("0123456789");

let tux: Client;
let rhea: Client;
let place: { applianceId: number; buildId: number };
beforeEach(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
  const { applianceId, buildId } = await createBuild(tux, image);
  place = { applianceId, buildId };
  await share();
});

const share = (who = rhea) => tux.post(`/appliances/${place.applianceId}/sharing/${who.username}`);
const unshare = () => tux.delete(`/appliances/${place.applianceId}/sharing/${rhea.username}`);

const lock = async (locked: boolean, { username }: Client) =>
  expect((await operate("PUT", `/accounts/${username}/lock`, { locked })).status).toBe(200);

const linkOf = async (client: Client): Promise<string> =>
  new URL((await readXml(await client.get(`/builds/${place.buildId}`))).build.download_url).pathname;

/** The link in every answer that has one. */
async function linksOf(client: Client): Promise<string[]> {
  const { applianceId, buildId } = place;
  const [one, list, appliance] = await Promise.all(
    [`/builds/${buildId}`, `/builds?appliance_id=${applianceId}`, `/appliances/${applianceId}`].map(async (path) =>
      readXml(await client.get(path)),
    ),
  );
  const found = [one?.build, list?.builds.build, appliance?.appliance.builds.build];
  return found.map(({ download_url: url }) => new URL(url).pathname);
}

const expectEnded = async (link: string) => {
  for (const path of [link, `${link}.spdx.json`]) {
    expect(await expectError(await visit(path), 403, "access_denied")).toContain("This link has expired");
  }
};
const expectWorking = async (link: string) => expect(await (await visit(link)).bytes()).toEqual(image);

describe("the download link of the owner", () => {
  it("is the same in every answer, and has its old shape", async () => {
    const listed = (await readXml(await tux.get("/appliances"))).appliances.appliance;
    const links = [...(await linksOf(tux)), ...(await linksOf(tux.on("v1")))];

    expect(new Set(links).size).toBe(1);
    expect(links[0]).toMatch(new RegExp(`^/download/[A-Za-z0-9_-]{32}/${result.fileName}$`));
    expect(new URL(listed.builds.build.download_url).pathname).toBe(links[0]);
    await expectWorking(links[0] ?? "");
  });

  it("works while the account is locked, and after the key was renewed", async () => {
    const link = await linkOf(tux);
    await lock(true, tux);
    expect((await operate("POST", `/accounts/${tux.username}/rekey`)).status).toBe(200);
    await expectWorking(link);
  });
});

describe("the download link of a reader", () => {
  it("is another one, the same in every answer", async () => {
    const [own, links] = [await linkOf(tux), [...(await linksOf(rhea)), ...(await linksOf(rhea.on("v1")))]];

    expect(new Set(links).size).toBe(1);
    expect(links).not.toContain(own);
    expect(links[0]?.split("/").at(-1)).toBe(result.fileName);
    const text = await (await rhea.get(`/builds/${place.buildId}`)).text();
    expect(text).not.toContain(own.split("/")[2]);
  });

  it("supports HEAD, ranges, resuming and ETags", async () => {
    const link = await linkOf(rhea);
    const etag = `"${sha256(image)}"`;
    const answer = await visit(link);
    expect([answer.status, answer.headers.get("etag"), answer.headers.get("cache-control")]).toEqual([
      200,
      etag,
      "private, no-cache",
    ]);
    expect(await answer.bytes()).toEqual(image);
    const head = await visit(link, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "10"]);
    const rest = await visit(link, { headers: { range: "bytes=7-", "if-range": etag } });
    expect([rest.status, await rest.bytes()]).toEqual([206, bytesOf("789")]);
    expect((await visit(link, { headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await visit(`${link}x`)).status).toBe(404);
  });

  it("ends when the appliance is no longer shared, also for a resume and with a known ETag", async () => {
    const link = await linkOf(rhea);
    await expectWorking(link);
    await unshare();
    await expectEnded(link);
    const headers = [{ range: "bytes=7-" }, { "if-none-match": `"${sha256(image)}"` }];
    for (const one of headers) expect((await visit(link, { headers: one })).status).toBe(403);
    await share();
    await expectWorking(link);
  });

  it("ends for one reader alone", async () => {
    const odo = await signedIn();
    await share(odo);
    const [own, ofRhea, ofOdo] = [await linkOf(tux), await linkOf(rhea), await linkOf(odo)];
    await unshare();
    await expectEnded(ofRhea);
    await expectWorking(ofOdo);
    await expectWorking(own);
  });

  it("works as long as the version is published, and ends with that", async () => {
    const link = await linkOf(rhea);
    await publish(tux, place.applianceId);
    await unshare();
    await expectWorking(link);
    await tux.delete(galleryPath(place.applianceId, "/version/0.0.1"));
    await expectEnded(link);
  });

  it("ends while the account is locked", async () => {
    const link = await linkOf(rhea);
    await lock(true, rhea);
    await expectEnded(link);
    await lock(false, rhea);
    await expectWorking(link);
  });

  it("ends with the key that it was given to", async () => {
    const link = await linkOf(rhea);
    const answer = await operate("POST", `/accounts/${rhea.username}/rekey`);
    expect(answer.status).toBe(200);
    await expectEnded(link);
  });

  it("ends with the account", async () => {
    const account = { username: `odo-${crypto.randomUUID()}`, email: "odo@example.org", password: "correct horse" };
    const { apiKey } = await createAccount(db, env, account);
    const odo = withKey({ ...rhea, username: account.username }, apiKey);
    await share(odo);
    const link = await linkOf(odo);
    await expectWorking(link);
    expect((await operate("DELETE", `/accounts/${account.username}`)).status).toBe(200);
    await expectEnded(link);
  });

  it("answers 410 for an expired image, and ends with a deleted build", async () => {
    const link = await linkOf(rhea);
    await db.update(builds).set({ expiredAt: new Date() }).where(eq(builds.id, place.buildId));
    await expectError(await visit(link), 410, "build_not_found");
    await tux.delete(`/builds/${place.buildId}`);
    await expectEnded(link);
  });

  it("cannot be made from another link", async () => {
    const other = await createBuild(tux, bytesOf("other"));
    const eve = await signedIn();
    const link = await linkOf(rhea);
    const [, , secret = ""] = link.split("/");
    const [build = "", account = "", token = "", signature = ""] = secret.split("-");
    const forged = [
      [other.buildId, account, token, signature],
      [build, eve.accountId, token, signature],
      [build, tux.accountId, token, signature],
      [build, account, "1", signature],
      [build, account, token, signature.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
      ["999999999", account, token, signature],
    ];
    for (const parts of forged) await expectEnded(link.replace(secret, parts.join("-")));
    for (const text of [`${build}-${account}-${token}`, `${secret}0`, "0-0-0-0"]) {
      expect((await visit(link.replace(secret, text))).status).toBe(404);
    }
  });
});

describe("the download link of a token", () => {
  it.each([
    ["the owner", () => tux],
    ["a reader", () => rhea],
  ])("of %s ends when the token is revoked", async (_whose, whose) => {
    const { id, client } = await tokenOf(whose());
    const [link, ofKey] = [await linkOf(client), await linkOf(whose())];
    expect(link).not.toBe(ofKey);
    expect(new Set(await linksOf(client))).toEqual(new Set([link]));
    await expectWorking(link);
    await whose().delete(`/tokens/${id}`);
    await expectEnded(link);
    await expectWorking(ofKey);
  });

  it("is in its list of appliances", async () => {
    const { client } = await tokenOf(tux);
    const { appliances } = await readXml(await client.get("/appliances"));
    expect(new URL(appliances.appliance.builds.build.download_url).pathname).toBe(await linkOf(client));
  });

  it("ends when the token expires", async () => {
    const { id, client } = await tokenOf(tux, { expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    const link = await linkOf(client);
    await expectWorking(link);
    await db
      .update(tokens)
      .set({ expiresAt: new Date(Date.now() - 1) })
      .where(eq(tokens.id, Number(id)));
    await expectEnded(link);
  });

  it("ends with the sharing, too", async () => {
    const { client } = await tokenOf(rhea);
    const link = await linkOf(client);
    await unshare();
    await expectEnded(link);
  });
});
