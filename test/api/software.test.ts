import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { tinyRepository } from "../support/repositories.ts";
import { change, cloned } from "../support/software.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const put = (tux: Client, id: string, body: string) => tux.put(`/appliances/${id}/software`, body);

describe("PUT software", () => {
  it("replaces packages and patterns, and returns the new selection", async () => {
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

  it("keeps a pin to a repository, which clients do not see", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    const pin = { name: "hello", repository_id: await tinyRepository("main") };
    await tux.post(`/appliances/${id}/cmd/add_package`, pin);

    await put(tux, id, "<software><package>hello</package><pattern>base</pattern></software>");

    expect((await change(await tux.post(`/appliances/${id}/cmd/add_package`, pin))).state).toBe("equal");
  });

  it("accepts thousands of packages", async () => {
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
    ["invalid XML", "<software><package>", "invalid_xml"],
    ["another root", "<appliance/>", "invalid_node"],
    ["an unknown element", "<software><package>a</package><rpm>b</rpm></software>", "invalid_node"],
    ["an element in a package", "<software><package><name>a</name></package></software>", "invalid_node"],
    ["a package without a name", "<software><package>a</package><package/></software>", "invalid_value"],
    ["a name that zypper would read as something else", "<software><package>-a</package></software>", "invalid_value"],
    ["an invalid version", '<software><package version="1 0">a</package></software>', "invalid_value"],
    ["invalid UTF-8", "<software><package>\ud800</package></software>", "invalid_xml"],
  ])("refuses %s and changes nothing", async (_what, body, code) => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });
    const before = await readXml(await tux.get(`/appliances/${id}/software`));

    await expectError(await put(tux, id, body), 400, code);

    expect(await readXml(await tux.get(`/appliances/${id}/software`))).toEqual(before);
  });
});
