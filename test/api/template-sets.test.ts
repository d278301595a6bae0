import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

describe("GET template_sets", () => {
  it("lists the set default first, with its templates as direct children", async () => {
    const tux = await signedIn();

    const { template_sets: sets } = await readXml(await tux.get("/template_sets"));

    expect(sets["@type"]).toBe("array");
    expect(sets.template_set.map((set: { name: string }) => set.name)).toEqual(["default", "mono"]);
    expect(sets.template_set[0].template).toHaveLength(2);
    expect(sets.template_set[0].template[0]).toEqual({
      appliance_id: "1",
      name: expect.stringContaining("JeOS"),
      description: expect.stringMatching(/\S/),
      basesystem: "tiny-1.0",
    });
  });
});

describe("GET template_sets/<name>", () => {
  it("shows one set without attributes", async () => {
    const tux = await signedIn();

    const { template_set: set } = await readXml(await tux.get("/template_sets/mono/"));

    expect(Object.keys(set)).toEqual(["name", "description", "template"]);
    expect(set.template).toHaveLength(2);
  });
});
