import { beforeEach, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { done, fill, json, refused, send, shownBy, stored } from "../support/definitions.ts";
import { createAppliance } from "../support/factories.ts";
import { loopTurns } from "../support/loop-turns.ts";

let tux: Client;
let applianceId: number;
let path: string;

beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
  path = `/appliances/${applianceId}/definition`;
});

describe("POST …/definition/plan", () => {
  it("reports what would change, and changes nothing", async () => {
    await fill(tux, applianceId);
    const before = await shownBy(tux, path);

    const answer = await send(tux, `POST ${path}/plan`, {
      name: "Other",
      packages: [{ name: "hello", version: "2.0-1" }, { name: "vim" }],
      bans: [],
      configuration: {
        settings: { memory_size: 1024 },
        users: [{ name: "root", password: "another" }],
      },
    });

    const { plan } = (await answer.json()) as {
      plan: { changes: { name: string; item?: string }[]; software: { state: string; problems: { text: string }[] } };
    };
    expect(plan.software).toMatchObject({
      state: "unsolvable",
      problems: [{ text: expect.stringContaining("2.0-1") }, { text: expect.stringContaining("vim") }],
    });
    expect(plan.changes).toEqual(
      expect.arrayContaining([
        { name: "name", from: "Kiosk", to: "Other" },
        { name: "packages", item: "hello", from: "version 1.0-1", to: "version 2.0-1" },
        { name: "packages", item: "vim", to: "" },
        { name: "bans", item: "vim", from: "" },
        { name: "configuration/settings/memory_size", from: "512", to: "1024" },
        { name: "configuration/users/password", item: "root", to: "a different password" },
      ]),
    );
    expect(plan.changes.find(({ item }) => item === "clerk")).toMatchObject({ name: "configuration/users" });
    expect(await shownBy(tux, path)).toEqual(before);
  });

  it("sees another order, and another password of a database", async () => {
    await fill(tux, applianceId);
    await send(tux, `PUT ${path}`, {
      packages: [{ name: "hello" }, { name: "webdemo" }],
      configuration: { databases: [{ type: "pgsql", users: [{ username: "loans", password: "one" }] }] },
    });

    const answer = await send(tux, `POST ${path}/plan`, {
      packages: [{ name: "webdemo" }, { name: "hello" }],
      configuration: { databases: [{ type: "pgsql", users: [{ username: "loans", password: "two" }] }] },
    });

    const { plan } = (await answer.json()) as { plan: { changes: object[] } };
    expect(plan.changes).toEqual([
      { name: "packages", to: "a different order" },
      { name: "configuration/databases/pgsql/password", item: "loans", to: "a different password" },
    ]);
  });

  it("names a check by its kind", async () => {
    const answer = await send(tux, `POST ${path}/plan`, {
      configuration: { checks: [{ kind: "login" }, { kind: "http", path: "/status" }] },
    });

    const { plan } = (await answer.json()) as { plan: { changes: object[] } };
    expect(plan.changes).toEqual([
      { name: "configuration/checks", item: "login", to: "seconds 300" },
      { name: "configuration/checks", item: "http", to: "port 80, path /status, status 200, seconds 300" },
    ]);
  });

  it("has no change for the appliance as it is", async () => {
    await fill(tux, applianceId);
    const answer = await send(tux, `POST ${path}/plan`, await shownBy(tux, path));
    expect(await answer.json()).toMatchObject({
      plan: { changes: [], software: { state: "solved", added: [], removed: [] } },
    });
  });
});

describe("POST /definitions", () => {
  it("makes what is for x86_64, unless it says otherwise", async () => {
    const made = await done(await send(tux, "POST /definitions", { base_system: "tiny-1.0", name: "Usual" }));
    const old = await done(
      await send(tux, "POST /definitions", { base_system: "tiny-1.0", name: "Old", arch: "i686" }),
    );
    expect([made.arch, old.arch]).toEqual(["x86_64", "i586"]);
  });

  it("makes the same appliance in another account", async () => {
    await fill(tux, applianceId);
    const { id: _id, ...shown } = await shownBy(tux, path);
    const other = await signedIn();
    const { upload } = await stored(other, "hello");
    const files = shown.files.map((file) => ({ ...file, upload }));
    const users = shown.configuration.users.map((user) => ({ ...user, password: "mine alone" }));
    const wanted = { ...shown, files, configuration: { ...shown.configuration, users } };

    const { id, ...made } = await done(await send(other, "POST /definitions", wanted));

    expect(made).toEqual(shown);
    expect(await shownBy(other, `/appliances/${id}/definition`)).toEqual({ id, ...shown });
    const { appliance } = (await (await other.get(`/appliances/${id}`, { headers: json })).json()) as {
      appliance: object;
    };
    expect(appliance).toMatchObject({ name: "Kiosk", parent: { id: 1 } });
  });

  it("makes one appliance of a repeated request", async () => {
    const key = { "idempotency-key": crypto.randomUUID() };
    const wanted = { base_system: "tiny-1.0", name: "Once" };
    const [first, second] = [
      await done(await send(tux, "POST /definitions", wanted, key)),
      await done(await send(tux, "POST /definitions", wanted, key)),
    ];
    expect(second).toEqual(first);
  });

  it("refuses an unknown base system, and leaves nothing behind", async () => {
    const count = async () => (await (await tux.get("/appliances")).text()).match(/<appliance>/g)?.length;
    const before = await count();
    expect(await refused(await send(tux, "POST /definitions", { base_system: "none", name: "x" }))).toMatch(
      /^400 invalid_base_system base_system must be one of tiny-1.0/,
    );
    const wrong = { base_system: "tiny-1.0", name: "x", packages: [{ name: "a b" }] };
    expect(await refused(await send(tux, "POST /definitions", wrong))).toMatch(/^400 invalid_value/);
    expect(await count()).toBe(before);
  });

  it("plans without making anything", async () => {
    const answer = await send(tux, "POST /definitions/plan", {
      base_system: "tiny-1.0",
      packages: [{ name: "vim" }],
    });
    const { plan } = (await answer.json()) as { plan: { changes: object[] } };
    expect(plan.changes).toContainEqual({ name: "packages", item: "vim", to: "" });
  });

  it("does not stop the loop for a thousand files", async () => {
    const files = Array.from({ length: 1000 }, (_, n) => ({ path: `/d/${n}`, sha256: String(n).padStart(64, "0") }));
    const planning = async () => done(await send(tux, `POST ${path}/plan`, { files }));
    expect(await loopTurns(planning)).toBeGreaterThan(files.length);
  });
});
