import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
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

    expect([byPost.state, byDelete.state, again.state]).toEqual(["changed", "changed", "equal"]);
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
