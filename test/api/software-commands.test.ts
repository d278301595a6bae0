import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { tinyRepository } from "../support/repositories.ts";
import { change, cloned } from "../support/software.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

describe("cmd/add_package", () => {
  it("changes the selection once, and reports `equal` the second time", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);

    const first = await change(await tux.post(`/appliances/${id}/cmd/add_package`, { name: "gcc-c++" }));
    const second = await change(await tux.post(`/appliances/${id}/cmd/add_package`, { name: "gcc-c++" }));

    expect(first).toEqual({ state: "changed", packages_added: "1", packages_removed: "0" });
    expect(second).toEqual({ state: "equal", packages_added: "0", packages_removed: "0" });
  });

  it("counts added, existing and replaced packages", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    const add = async (params: Record<string, string | number>) =>
      change(await tux.post(`/appliances/${id}/cmd/add_package`, params));

    expect(await add({ name: "hello" })).toEqual({ state: "changed", packages_added: "2", packages_removed: "0" });
    expect(await add({ name: "bash" })).toEqual({ state: "changed", packages_added: "0", packages_removed: "0" });
    // libgreet 1.1 also satisfies the old hello.
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
  ])("adds and reports broken if a package %s; removing fixes it", async (_what, params) => {
    const tux = await signedIn();
    const id = await cloned(tux);

    const broken = await change(await tux.post(`/appliances/${id}/cmd/add_package`, params));
    const { software } = await readXml(await tux.get(`/appliances/${id}/software`));
    const mended = await change(await tux.post(`/appliances/${id}/cmd/remove_package`, { name: params.name }));

    expect(broken).toEqual({ state: "broken", packages_added: "0", packages_removed: "0" });
    expect([software.package?.["#text"] ?? software.package]).toEqual([params.name]);
    expect(mended).toEqual({ state: "changed", packages_added: "0", packages_removed: "0" });
  });

  it("counts a package once if two clients add it simultaneously", async () => {
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
});

describe("cmd/remove_package, cmd/add_pattern, cmd/remove_pattern", () => {
  it("remove what was added, by POST and by DELETE", async () => {
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

  it("distinguish a package from a pattern of the same name", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);

    expect((await change(await tux.post(`/appliances/${id}/cmd/remove_package`, { name: "base" }))).state).toBe(
      "equal",
    );
    expect((await readXml(await tux.get(`/appliances/${id}/software`))).software.pattern).toBe("base");
  });
});

describe("cmd/ban_package, cmd/unban_package", () => {
  it("keep a package out, even if others require it, and readmit it", async () => {
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

  it("do not appear in the selection, and refuse invalid names", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "hello-docs" });

    const { software } = await readXml(await tux.get(`/appliances/${id}/software`));

    expect(software).toEqual({ "@type": "array", "@appliance_id": id, pattern: "base" });
    await expectError(await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "*" }), 400, "invalid_value");
  });
});
