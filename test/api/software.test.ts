import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createBuild } from "../support/factories.ts";
import { tinyRepository } from "../support/repositories.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const cloned = async (tux: Client): Promise<string> =>
  (await readXml(await tux.post("/appliances", { clone_from: 1, arch: "x86_64" }))).appliance.id;

const change = async (answer: Response) => (await readXml(answer)).success.details.status;

describe("cmd/add_package", () => {
  it("changes the selection once and is equal the second time", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);

    const first = await change(await tux.post(`/appliances/${id}/cmd/add_package`, { name: "gcc-c++" }));
    const second = await change(await tux.post(`/appliances/${id}/cmd/add_package`, { name: "gcc-c++" }));

    expect(first).toEqual({ state: "changed", packages_added: "1", packages_removed: "0" });
    expect(second).toEqual({ state: "equal", packages_added: "0", packages_removed: "0" });
  });

  it("counts what comes along, what is there already, and what another version replaces", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    const add = async (params: Record<string, string | number>) =>
      change(await tux.post(`/appliances/${id}/cmd/add_package`, params));

    expect(await add({ name: "hello" })).toEqual({ state: "changed", packages_added: "2", packages_removed: "0" });
    expect(await add({ name: "bash" })).toEqual({ state: "changed", packages_added: "0", packages_removed: "0" });
    // libgreet 1.1 satisfies the old hello too.
    expect(await add({ name: "hello", version: "1.0-1" })).toEqual({
      state: "changed",
      packages_added: "1",
      packages_removed: "1",
    });
    expect(await add({ name: "libgreet", repository_id: await tinyRepository("main") })).toEqual({
      state: "changed",
      packages_added: "1",
      packages_removed: "1",
    });
  });

  it.each([
    ["is in no repository", { name: "no-such-package" }],
    ["needs what nothing provides", { name: "broken-dep" }],
    ["has no such version", { name: "hello", version: "9.9" }],
  ])("is broken, though done, when a package %s; and removing it mends that", async (_what, params) => {
    const tux = await signedIn();
    const id = await cloned(tux);

    const broken = await change(await tux.post(`/appliances/${id}/cmd/add_package`, params));
    const { software } = await readXml(await tux.get(`/appliances/${id}/software`));
    const mended = await change(await tux.post(`/appliances/${id}/cmd/remove_package`, { name: params.name }));

    expect(broken).toEqual({ state: "broken", packages_added: "0", packages_removed: "0" });
    expect([software.package?.["#text"] ?? software.package]).toEqual([params.name]);
    expect(mended).toEqual({ state: "changed", packages_added: "0", packages_removed: "0" });
  });

  it("counts a package once when two clients add it at the same time", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);

    const answers = await Promise.all(
      [1, 2, 3].map(() => tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" })),
    );

    const states = await Promise.all(answers.map(async (answer) => (await change(answer)).state));
    expect(states.toSorted()).toEqual(["changed", "equal", "equal"]);
  });

  it("shows a pinned version in the selection", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello", version: "1.0-1" });

    const { software } = await readXml(await tux.get(`/appliances/${id}/software`));

    expect(software).toEqual({
      "@type": "array",
      "@appliance_id": id,
      package: { "@version": "1.0-1", "#text": "hello" },
      pattern: "base",
    });
  });

  it.each([
    [{}, "missing_parameter"],
    [{ name: "" }, "missing_parameter"],
    [{ name: "-hello" }, "invalid_value"],
    [{ name: "../../x" }, "invalid_value"],
    [{ name: "hel*" }, "invalid_value"],
    [{ name: "hello", version: "1 0" }, "invalid_version"],
    [{ name: "hello", repository_id: "x" }, "invalid_repository_id"],
    [{ name: "hello", repository_id: 99_999 }, "invalid_repository_id"],
  ])("refuses %j with %s and changes nothing", async (params, code) => {
    const tux = await signedIn();
    const id = await cloned(tux);

    await expectError(await tux.post(`/appliances/${id}/cmd/add_package`, params as Record<string, string>), 400, code);
    const { software } = await readXml(await tux.get(`/appliances/${id}/software`));
    expect(software.package).toBeUndefined();
  });

  it("refuses templates, strangers' appliances and a GET", async () => {
    const tux = await signedIn();
    const strangers = await cloned(await signedIn());

    await expectError(await tux.post("/appliances/1/cmd/add_package", { name: "hello" }), 403, "access_denied");
    await expectError(
      await tux.post(`/appliances/${strangers}/cmd/add_package`, { name: "hello" }),
      404,
      "invalid_appliance_id",
    );
    await expectError(await tux.get(`/appliances/${strangers}/cmd/add_package`), 400, "wrong_http_method");
  });
});

describe("cmd/remove_package, cmd/add_pattern, cmd/remove_pattern", () => {
  it("remove what was added, by POST and by one client's DELETE", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });
    await tux.post(`/appliances/${id}/cmd/add_pattern`, { name: "web" });

    const byPost = await change(await tux.post(`/appliances/${id}/cmd/remove_package`, { name: "hello" }));
    const byDelete = await change(await tux.delete(`/appliances/${id}/cmd/remove_pattern?name=web`));
    const again = await change(await tux.post(`/appliances/${id}/cmd/remove_pattern`, { name: "web" }));

    expect(byPost).toEqual({ state: "changed", packages_added: "0", packages_removed: "2" });
    expect(byDelete).toEqual({ state: "changed", packages_added: "0", packages_removed: "2" });
    expect(again.state).toBe("equal");
  });

  it("do not mix up a package and a pattern of the same name", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);

    expect((await change(await tux.post(`/appliances/${id}/cmd/remove_package`, { name: "base" }))).state).toBe(
      "equal",
    );
    expect((await readXml(await tux.get(`/appliances/${id}/software`))).software.pattern).toBe("base");
  });
});

describe("cmd/ban_package, cmd/unban_package", () => {
  it("keep a package out, even one that others need, and let it in again", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });
    const call = async (verb: string) => change(await tux.post(`/appliances/${id}/cmd/${verb}`, { name: "libgreet" }));

    expect([await call("ban_package"), await call("ban_package")]).toMatchObject([
      { state: "broken" },
      { state: "equal" },
    ]);
    expect([await call("unban_package"), await call("unban_package")]).toMatchObject([
      { state: "changed" },
      { state: "equal" },
    ]);
  });

  it("are not shown in the selection, and refuse what is no name", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "hello-docs" });

    const { software } = await readXml(await tux.get(`/appliances/${id}/software`));

    expect(software).toEqual({ "@type": "array", "@appliance_id": id, pattern: "base" });
    await expectError(await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "*" }), 400, "invalid_value");
    await expectError(await tux.post(`/appliances/${id}/cmd/ban_package`), 400, "missing_parameter");
  });
});

const put = (tux: Client, id: string, body: string) => tux.put(`/appliances/${id}/software`, body);

describe("PUT software", () => {
  it("replaces packages and patterns, and answers the new selection", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "webdemo" });

    const answer = await put(
      tux,
      id,
      `<?xml version="1.0"?><software type="array" appliance_id="1">
        <package version="1.0-1">hello</package><package>gcc-c++</package>
        <pattern>base</pattern><patterns>web</patterns></software>`,
    );

    const { software } = await readXml(answer);
    expect(software).toEqual({
      "@type": "array",
      "@appliance_id": id,
      package: [{ "@version": "1.0-1", "#text": "hello" }, "gcc-c++"],
      pattern: ["base", "web"],
    });
    expect(await readXml(await tux.get(`/appliances/${id}/software`))).toEqual({ software });
  });

  it("can empty the selection, and keeps bans", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "hello" });

    const { software } = await readXml(await put(tux, id, "<software/>"));

    expect([software.package, software.pattern]).toEqual([undefined, undefined]);
    const unbanned = await change(await tux.post(`/appliances/${id}/cmd/unban_package`, { name: "hello" }));
    expect(unbanned.state).toBe("changed");
  });

  it("keeps the pin to a repository, which no client sees in the list that it sends back", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    const pin = { name: "hello", repository_id: await tinyRepository("main") };
    await tux.post(`/appliances/${id}/cmd/add_package`, pin);

    await put(tux, id, "<software><package>hello</package><pattern>base</pattern></software>");

    expect((await change(await tux.post(`/appliances/${id}/cmd/add_package`, pin))).state).toBe("equal");
  });

  it("takes thousands of packages", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    const names = Array.from({ length: 3000 }, (_, index) => `package-${index}`);

    const { software } = await readXml(
      await put(tux, id, `<software>${names.map((name) => `<package>${name}</package>`).join("")}</software>`),
    );

    expect(software.package).toEqual(names);
  });

  it.each([
    ["an empty body", "", "invalid_xml"],
    ["what is no XML", "<software><package>", "invalid_xml"],
    ["another root", "<appliance/>", "invalid_node"],
    ["an unknown element", "<software><package>a</package><rpm>b</rpm></software>", "invalid_node"],
    ["an element in a package", "<software><package><name>a</name></package></software>", "invalid_node"],
    ["a package without a name", "<software><package>a</package><package/></software>", "invalid_value"],
    ["a name that zypper would read as something else", "<software><package>-a</package></software>", "invalid_value"],
    ["a version that is none", '<software><package version="1 0">a</package></software>', "invalid_value"],
    ["bytes that are no text", "<software><package>\ud800</package></software>", "invalid_xml"],
  ])("refuses %s and changes nothing", async (_what, body, code) => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });
    const before = await readXml(await tux.get(`/appliances/${id}/software`));

    await expectError(await put(tux, id, body), 400, code);

    expect(await readXml(await tux.get(`/appliances/${id}/software`))).toEqual(before);
  });

  it("refuses a template and a stranger's appliance", async () => {
    const tux = await signedIn();
    const strangers = await cloned(await signedIn());

    await expectError(await put(tux, "1", "<software/>"), 403, "access_denied");
    await expectError(await put(tux, strangers, "<software/>"), 404, "invalid_appliance_id");
  });
});

describe("GET software/installed", () => {
  it("shows what the next build will hold, by repository, with checksums and patterns", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });

    const { software_map: map } = await readXml(await tux.get(`/appliances/${id}/software/installed`));

    expect([map["@type"], map["@appliance_id"]]).toEqual(["array", id]);
    const [main, updates] = map.repository;
    expect(main).toMatchObject({
      "@id": String(await tinyRepository("main")),
      "@name": "Tiny Linux 1.0 main",
      "@base_url": expect.stringMatching(/^https:\/\/[^/]+\/repositories\/tiny\/main$/),
    });
    expect(main.software.pattern).toEqual({ "@arch": "noarch", "@version": "1.0-1", "#text": "base" });
    expect(main.software.package.map((one: Record<string, string>) => one["#text"])).toContain("kernel-default");
    expect(updates.software).toEqual({
      "@type": "array",
      package: ["hello", "libgreet"].map((name) => ({
        "@arch": "noarch",
        "@checksum": "0".repeat(64),
        "@version": "1.1-1",
        "@checksum_type": "SHA256",
        "#text": name,
      })),
    });
  });

  it("shows nothing while the software does not resolve", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "no-such-package" });

    const answer = await tux.get(`/appliances/${id}/software/installed`);

    expect(await answer.text()).toBe(`<software_map type="array" appliance_id="${id}">\n</software_map>\n`);
  });

  it("shows what rpm reported in a build, whatever the appliance has become since", async () => {
    const tux = await signedIn();
    const installed = [
      { name: "busybox", version: "1.35.0", release: "1", arch: "x86_64" },
      { name: "stranger", version: "1", release: "1", arch: "noarch" },
    ];
    const { applianceId, buildId } = await createBuild(tux, undefined, { installed });
    await tux.post(`/appliances/${applianceId}/cmd/remove_pattern`, { name: "base" });

    const { software_map: map } = await readXml(
      await tux.get(`/appliances/${applianceId}/software/installed?build_id=${buildId}`),
    );

    const [main, none] = map.repository;
    expect(main["@name"]).toBe("Tiny Linux 1.0 main");
    expect(main.software.package).toEqual({
      "@arch": "x86_64",
      "@checksum": "0".repeat(64),
      "@version": "1.35.0-1",
      "@checksum_type": "SHA256",
      "#text": "busybox",
    });
    expect(none).toEqual({
      "@name": "none of the repositories",
      "@id": "0",
      software: { "@type": "array", package: { "@arch": "noarch", "@version": "1-1", "#text": "stranger" } },
    });
  });

  it("knows no other build, and no image of one that has not finished", async () => {
    const tux = await signedIn();
    const { applianceId, buildId } = await createBuild(tux);
    const other = await cloned(tux);
    const strangers = await createBuild(await signedIn());
    const { build } = await readXml(await tux.post("/running_builds", { appliance_id: other }));
    const ask = (id: number | string, build: number | string) =>
      tux.get(`/appliances/${id}/software/installed?build_id=${build}`);

    await expectError(await ask(applianceId, "x"), 400, "invalid_build_id");
    await expectError(await ask(applianceId, 99_999), 400, "invalid_build_id");
    await expectError(await ask(applianceId, strangers.buildId), 400, "invalid_build_id");
    await expectError(await ask(other, buildId), 400, "invalid_build_id");
    await expectError(await ask(other, build.id), 400, "build_not_found");
    await expectError(await ask(strangers.applianceId, strangers.buildId), 404, "invalid_appliance_id");
  });
});
