import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { uploadFile } from "../support/files.ts";
import { newKey } from "../support/gpg-keys.ts";

interface Shown {
  id: number;
  base_system: string;
  repositories: unknown[];
  configuration: { users: { name: string; password?: string }[] };
  files: { path: string; sha256: string }[];
  [name: string]: unknown;
}

let tux: Client;
let applianceId: number;
let path: string;
let stranger: Client;

beforeAll(async () => {
  stranger = await signedIn();
});
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
  path = `/appliances/${applianceId}/definition`;
});

const json = { accept: "application/json" };

async function shownBy(who: Client, at = path): Promise<Shown> {
  const answer = await who.get(at, { headers: json });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { definition: Shown }).definition;
}

const sendBytes = ({ username, apiKey }: Client, at: string, init: RequestInit & { headers: object }) =>
  visit(`/api/v2/user${at}`, {
    method: "POST",
    ...init,
    headers: { ...json, authorization: `Basic ${btoa(`${username}:${apiKey}`)}`, ...init.headers },
  });

/** `call`: method and path. */
const send = (who: Client, call: string, definition: object, headers: object = {}) => {
  const [method = "", at = ""] = call.split(" ");
  return sendBytes(who, at, {
    method,
    body: JSON.stringify({ definition }),
    headers: { "content-type": "application/json", ...headers },
  });
};

async function done(answer: Response): Promise<Shown> {
  const text = await answer.text();
  expect(answer.ok, text).toBe(true);
  return (JSON.parse(text) as { definition: Shown }).definition;
}

async function refused(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  return `${answer.status} ${error.code} ${error.message}`;
}

async function stored(who: Client, bytes: string): Promise<{ sha256: string; upload: string }> {
  const headers = { "content-type": "application/octet-stream" };
  const answer = await sendBytes(who, "/contents", { body: bytes, headers });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { content: { sha256: string; upload: string } }).content;
}

/** An appliance that has something of everything. */
async function fill(): Promise<void> {
  await uploadFile(tux, applianceId, "hello", { query: { filename: "motd", path: "/etc" } });
  await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello", version: "1.0-1" });
  await tux.post(`/appliances/${applianceId}/cmd/ban_package`, { name: "vim" });
  const key = (await newKey()).toPublic().armor();
  await tux.post(`/appliances/${applianceId}/gpg_keys`, { name: "ours", target: "rpm", key });
  await tux.put(
    `/appliances/${applianceId}/configuration`,
    `<configuration><description>Reads</description><users>
       <user><name>root</name><password>secret one</password></user>
       <user><name>clerk</name><password>secret two</password></user></users>
       <settings><memory_size>512</memory_size></settings>
       <scripts><build><enabled>true</enabled><script>#!/bin/sh\necho hi</script></build></scripts></configuration>`,
  );
}

describe("GET …/definition", () => {
  it("says everything but passwords", async () => {
    await fill();

    const shown = await shownBy(tux);

    expect(shown).toMatchObject({
      id: applianceId,
      name: "Kiosk",
      base_system: "tiny-1.0",
      arch: "x86_64",
      version: "0.0.1",
      bans: [{ name: "vim" }],
      files: [{ path: "/etc/motd", owner: "nobody", permissions: "644", enabled: true, size: 5 }],
      gpg_keys: [{ name: "ours", target: "rpm" }],
      configuration: { description: "Reads", settings: { memory_size: 512 } },
    });
    expect(shown["packages"]).toContainEqual({ name: "hello", version: "1.0-1" });
    expect(shown.configuration.users.map(({ name, password }) => [name, password])).toEqual([
      ["root", undefined],
      ["clerk", undefined],
    ]);
    expect(JSON.stringify(shown)).not.toContain("secret");
  });

  it("does not exist for others", async () => {
    expect(await refused(await stranger.get(path, { headers: json }))).toMatch(/^404 invalid_appliance_id/);
  });
});

describe("PUT …/definition", () => {
  it("changes what it names, and keeps the rest with its ids and passwords", async () => {
    await fill();
    const before = await shownBy(tux);
    const configuration = await (await tux.get(`/appliances/${applianceId}/configuration`)).text();
    const fileList = await (await tux.get(`/files?appliance_id=${applianceId}`)).text();
    const keyList = await (await tux.get(`/appliances/${applianceId}/gpg_keys`)).text();

    const after = await done(
      await send(tux, `PUT ${path}`, { ...before, name: "Reading room", packages: [{ name: "hello" }] }),
    );

    expect(after).toEqual({ ...before, name: "Reading room", packages: [{ name: "hello" }] });
    const now = await (await tux.get(`/appliances/${applianceId}/configuration`)).text();
    expect(await (await tux.get(`/files?appliance_id=${applianceId}`)).text()).toBe(fileList);
    expect(await (await tux.get(`/appliances/${applianceId}/gpg_keys`)).text()).toBe(keyList);
    expect(now).toBe(configuration.replace("<name>Kiosk</name>", "<name>Reading room</name>"));
  });

  it("takes back what it answered, and that changes nothing", async () => {
    await fill();
    const before = await (await tux.get(`/appliances/${applianceId}`)).text();

    expect(await done(await send(tux, `PUT ${path}`, await shownBy(tux)))).toEqual(await shownBy(tux));

    expect(await (await tux.get(`/appliances/${applianceId}`)).text()).toBe(before);
  });

  it("takes contents that were stored before, and those that the appliance has", async () => {
    await fill();
    const [{ sha256: known } = { sha256: "" }] = (await shownBy(tux)).files;
    const { sha256, upload } = await stored(tux, "counter=1\n");

    const { files } = await done(
      await send(tux, `PUT ${path}`, {
        files: [
          { path: "/etc/counter.conf", owner: "root", group: "root", permissions: "600", sha256, upload },
          { path: "/srv/motd", sha256: known },
        ],
      }),
    );

    expect(files).toMatchObject([
      { path: "/etc/counter.conf", owner: "root", permissions: "600", size: 10 },
      { path: "/srv/motd", size: 5 },
    ]);
    const list = (await (await tux.get(`/files?appliance_id=${applianceId}`, { headers: json })).json()) as {
      files: { id: number }[];
    };
    const contents = await Promise.all(
      list.files.map(async ({ id }) => await (await tux.get(`/files/${id}/data`)).text()),
    );
    expect(contents).toEqual(["counter=1\n", "hello"]);
  });

  it("refuses all of it if one part cannot be", async () => {
    await fill();
    const before = await shownBy(tux);
    const theirs = await stored(stranger, "theirs");
    const refusals = [
      [
        { repositories: [{ url: "https://nowhere.example.org/x" }] },
        /^400 invalid_repository_id There is no repository/,
      ],
      [{ packages: [{ name: "a b" }] }, /^400 invalid_value a b is not a valid package name/],
      [{ packages: [{ name: "hello", repository: "none" }] }, /^400 invalid_repository_id hello is pinned/],
      [{ files: [{ path: "/etc/x", ...theirs }] }, /^400 invalid_value files\/file \(\/etc\/x\): the service does not/],
      [{ files: [{ path: "/etc/x", sha256: "00", upload: theirs.upload }] }, /^400 invalid_value/],
      [{ files: [{ path: "/etc/x", sha256: "00", upload: "x" }] }, /^400 invalid_value/],
      [{ files: [{ path: "../../x", sha256: before.files[0]?.sha256 }] }, /^400 invalid_value/],
      [{ gpg_keys: [{ name: "x", key: "no key" }] }, /^400 invalid_key/],
      [{ base_system: "other" }, /^400 invalid_value base_system: the appliance has tiny-1.0/],
      [{ arch: "i686" }, /^400 invalid_value arch: the appliance has x86_64/],
      [{ configuration: { settings: { memory_size: 1 } } }, /^400 invalid_value settings\/memory_size/],
      [{ configuration: { users: [{ name: "new" }] } }, /^400 invalid_value .*a new user needs a password/],
      [{ nonsense: 1 }, /^400 invalid_node/],
    ] as const;

    for (const [wrong, refusal] of refusals)
      expect(await refused(await send(tux, `PUT ${path}`, { name: "Changed", ...wrong }))).toMatch(refusal);

    expect(await shownBy(tux)).toEqual(before);
  });

  it("is refused if the appliance is no longer what the client has seen", async () => {
    const seen = (await tux.get(path, { headers: json })).headers.get("etag") ?? "";
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello" });

    const answer = await send(tux, `PUT ${path}`, { name: "Late" }, { "if-match": seen });

    expect(await refused(answer)).toMatch(/^412 unknown_error It has changed/);
    expect((await shownBy(tux))["name"]).toBe("Kiosk");
  });

  it("lets one of two at the same time win, and tells the other", async () => {
    const names = ["One", "Two", "Three", "Four"];

    const answers = await Promise.all(
      names.map((name) => send(tux, `PUT ${path}`, { name, packages: [{ name: "hello" }, { name: "vim" }] })),
    );

    const won = answers.filter(({ ok }) => ok);
    expect(answers.filter(({ ok }) => !ok).map(({ status }) => status)).toEqual(
      Array.from({ length: 4 - won.length }, () => 412),
    );
    expect(won.length).toBeGreaterThan(0);
    const shown = await shownBy(tux);
    const last = await Promise.all(won.map(done));
    expect(last.map(({ name }) => name)).toContain(shown["name"]);
    expect(shown["packages"]).toEqual([{ name: "hello" }, { name: "vim" }]);
  });

  it("reads XML as well", async () => {
    const answer = await tux.put(
      path,
      "<definition><name>By XML</name><bans><ban><name>vim</name></ban></bans></definition>",
    );
    expect(await answer.text()).toMatch(/<name>By XML<\/name>/);
    expect(await shownBy(tux)).toMatchObject({ name: "By XML", bans: [{ name: "vim" }] });
  });
});

describe("POST …/definition/plan", () => {
  it("says what would change, and changes nothing", async () => {
    await fill();
    const before = await shownBy(tux);

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
        { name: "configuration/users/password", item: "root", to: "another password" },
      ]),
    );
    expect(plan.changes.find(({ item }) => item === "clerk")).toMatchObject({ name: "configuration/users" });
    expect(await shownBy(tux)).toEqual(before);
  });

  it("sees another order, and another password of a database", async () => {
    await fill();
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
      { name: "packages", to: "another order" },
      { name: "configuration/databases/pgsql/password", item: "loans", to: "another password" },
    ]);
  });

  it("has no change for the appliance as it is", async () => {
    await fill();
    const answer = await send(tux, `POST ${path}/plan`, await shownBy(tux));
    expect(await answer.json()).toMatchObject({
      plan: { changes: [], software: { state: "solved", added: [], removed: [] } },
    });
  });
});

describe("POST /definitions", () => {
  it("makes the same appliance in another account", async () => {
    await fill();
    const { id: _id, ...shown } = await shownBy(tux);
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
      /^400 invalid_base_system base_system is one of tiny-1.0/,
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
});
