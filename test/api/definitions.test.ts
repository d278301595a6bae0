import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { done, fill, json, refused, send, shownBy, stored } from "../support/definitions.ts";
import { createAppliance } from "../support/factories.ts";

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

describe("GET …/definition", () => {
  it("contains everything but passwords", async () => {
    await fill(tux, applianceId);

    const shown = await shownBy(tux, path);

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
});

describe("PUT …/definition", () => {
  it("changes what it names, and keeps the rest with its ids and passwords", async () => {
    await fill(tux, applianceId);
    const before = await shownBy(tux, path);
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
    await fill(tux, applianceId);
    const before = await (await tux.get(`/appliances/${applianceId}`)).text();

    expect(await done(await send(tux, `PUT ${path}`, await shownBy(tux, path)))).toEqual(await shownBy(tux, path));

    expect(await (await tux.get(`/appliances/${applianceId}`)).text()).toBe(before);
  });

  it("keeps a host name with DHCP, and refuses what the image would not use", async () => {
    const network = { type: "dhcp", hostname: "webshop" };
    const after = await done(await send(tux, `PUT ${path}`, { configuration: { network } }));
    expect(after.configuration).toMatchObject({ network });

    const unused = [
      { network: { type: "dhcp", ip: "192.0.2.7" } },
      { network: { type: "none", nameservers: "192.0.2.2" } },
      { lvm: { enabled: false, volumes: [{ path: "/srv", size: 100 }] } },
    ];
    for (const configuration of unused) {
      expect(await refused(await send(tux, `PUT ${path}`, { configuration }))).toMatch(/^400 invalid_value.*used only/);
    }
    expect(await shownBy(tux, path)).toEqual(after);
  });

  it.each([
    { first_boot: "cloud-init" },
    { automatic_updates: "security" },
    { disk_encryption: "passphrase" },
    { file_system: "xfs" },
  ])("refuses %j, for which its base system has no packages", async (settings) => {
    const before = await shownBy(tux, path);
    for (const request of [`PUT ${path}`, `POST ${path}/plan`]) {
      const answer = await send(tux, request, { configuration: { settings } });
      expect(await refused(answer)).toMatch(/^400 invalid_value.*no packages of Tiny Linux 1.0 for/);
    }
    expect(await shownBy(tux, path)).toEqual(before);
  });

  it("takes contents that were stored before, and those that the appliance has", async () => {
    await fill(tux, applianceId);
    const [{ sha256: known } = { sha256: "" }] = (await shownBy(tux, path)).files;
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
    await fill(tux, applianceId);
    const before = await shownBy(tux, path);
    const theirs = await stored(stranger, "theirs");
    const refusals = [
      [
        { repositories: [{ url: "https://nowhere.example.org/x" }] },
        /^400 invalid_repository_id This service has no repository/,
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
      [{ configuration: { settings: { memory_size: 1 } } }, /^400 invalid_value configuration\/settings\/memory_size/],
      [{ configuration: { users: [{ name: "new" }] } }, /^400 invalid_value .*a new user needs a password/],
      [{ nonsense: 1 }, /^400 invalid_node/],
    ] as const;

    for (const [wrong, refusal] of refusals)
      expect(await refused(await send(tux, `PUT ${path}`, { name: "Changed", ...wrong }))).toMatch(refusal);

    expect(await shownBy(tux, path)).toEqual(before);
  });

  it("is refused if the appliance is no longer what the client has seen", async () => {
    const seen = (await tux.get(path, { headers: json })).headers.get("etag") ?? "";
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello" });

    const answer = await send(tux, `PUT ${path}`, { name: "Late" }, { "if-match": seen });

    expect(await refused(answer)).toMatch(/^412 unknown_error It has changed/);
    expect((await shownBy(tux, path))["name"]).toBe("Kiosk");
  });

  it("lets one of two simultaneous changes win, and refuses the other", async () => {
    const names = ["One", "Two", "Three", "Four"];

    const answers = await Promise.all(
      names.map((name) => send(tux, `PUT ${path}`, { name, packages: [{ name: "hello" }, { name: "vim" }] })),
    );

    const won = answers.filter(({ ok }) => ok);
    expect(answers.filter(({ ok }) => !ok).map(({ status }) => status)).toEqual(
      Array.from({ length: 4 - won.length }, () => 412),
    );
    expect(won.length).toBeGreaterThan(0);
    const shown = await shownBy(tux, path);
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
    expect(await shownBy(tux, path)).toMatchObject({ name: "By XML", bans: [{ name: "vim" }] });
  });
});
