import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { listen } from "../support/events.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { runningDrive } from "../support/testdrives.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const keyPage = ({ username }: Client, secret: string) =>
  visit("/user/show_api_key", { headers: { authorization: `Basic ${btoa(`${username}:${secret}`)}` } });

const changePassword = (tux: Client, password: string, wanted: string) =>
  tux.put(
    "/account/password",
    new URLSearchParams({ password, new_password: wanted }).toString(),
    "application/x-www-form-urlencoded",
  );

const lock = (tux: Client, locked: boolean) => operate("PUT", `/accounts/${tux.username}/lock`, { locked });

describe("a password", () => {
  it("can be changed with the old one, and the key stays", async () => {
    const tux = await signedIn();

    expect((await changePassword(tux, "correct horse", "battery staple")).status).toBe(200);

    expect((await keyPage(tux, "battery staple")).status).toBe(200);
    expect((await keyPage(tux, "correct horse")).status).toBe(401);
    expect((await tux.get("/account")).status).toBe(200);
    await expectError(await changePassword(tux, "correct horse", "another one"), 403, "access_denied");
  });

  it("cannot be guessed with the API key", async () => {
    const tux = await signedIn();
    const statuses: number[] = [];
    // The limit is ten a minute. Of 21, some come in a minute that already has ten, even if the next minute begins in
    // between.
    while (statuses.length < 21 && statuses.at(-1) !== 429)
      statuses.push((await changePassword(tux, `guess ${statuses.length}`, "battery staple")).status);

    expect(statuses.slice(0, 10)).toEqual(Array<number>(10).fill(403));
    expect(statuses.at(-1)).toBe(429);
    expect((await tux.get("/account")).status).toBe(200);
  });

  it("can be set by the operator, or generated", async () => {
    const tux = await signedIn();
    const set = (body: object) => operate("PUT", `/accounts/${tux.username}/password`, body);

    expect((await set({ password: "short" })).status).toBe(400);
    const { password } = await (await set({})).json<{ password: string }>();

    expect(password).toMatch(/^\w{16}$/);
    expect((await keyPage(tux, password)).status).toBe(200);
    expect((await keyPage(tux, "correct horse")).status).toBe(401);
  });
});

describe("a locked account", () => {
  it("cannot sign in, in any way, until it is unlocked", async () => {
    const tux = await signedIn();
    const { client } = await tokenOf(tux);
    const listener = await listen(tux);
    expect((await keyPage(tux, "correct horse")).status).toBe(200);

    expect((await lock(tux, true)).status).toBe(200);

    while ((await listener.block()) !== undefined);
    for (const who of [tux, client, tux.on("v1")]) {
      for (const path of ["/account", "/appliances"]) {
        expect(await expectError(await who.get(path), 403, "access_denied")).toContain("locked");
      }
    }
    for (const secret of [tux.apiKey, "correct horse"]) expect((await keyPage(tux, secret)).status).toBe(403);
    expect((await keyPage(tux, "wrong")).status).toBe(401);
    expect((await lock(tux, false)).status).toBe(200);
    for (const who of [tux, client]) expect((await who.get("/appliances")).status).toBe(200);
  });

  it("has no running builds or testdrives", async () => {
    const [tux, gnu] = [await signedIn(), await signedIn()];
    const [id, other] = [
      await startBuild(tux, await createAppliance(tux)),
      await startBuild(gnu, await createAppliance(gnu)),
    ];
    await runningDrive(tux);

    await lock(tux, true);
    await lock(tux, false);

    const { running_build: build } = await readXml(await tux.get(`/running_builds/${id}`));
    expect(build.state).toBe("cancelled");
    expect((await readXml(await tux.get("/testdrives"))).testdrives.testdrive).toBeUndefined();
    const { running_build: theirs } = await readXml(await gnu.get(`/running_builds/${other}`));
    expect(theirs.state).toBe("queued");
  });
});
