import { describe, expect, it } from "vitest";
import { XMLParser } from "fast-xml-parser";
import { kiwiDescription, type DescriptionFacts } from "#kiwi/description";

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "@", parseTagValue: false });

const facts: DescriptionFacts = {
  name: "Kiosk",
  version: "0.0.3",
  imageType: "oem",
  diskSizeMb: 700,
  locale: { language: "de_DE.UTF-8", keyboardLayout: "german", timezone: "Europe/Vienna" },
  users: [{ name: "root", passwordHash: "$6$salt$hash", homedir: "/root", shell: "/bin/bash", group: "root", uid: 0 }],
  repositories: [{ alias: "repo-21", url: "service:/repositories/tiny/main", priority: 90 }],
  packages: ["hello", "repo-21:vim=1.0-1"],
  patterns: ["base"],
  bootstrap: null,
};
const described = (changes: Partial<DescriptionFacts> = {}) =>
  parser.parse(kiwiDescription({ ...facts, ...changes })).image;

describe("kiwiDescription", () => {
  it("names repositories by alias, never by address", () => {
    const { repository } = described();

    expect(repository.source["@path"]).toBe("repo:repo-21");
    expect(repository).toMatchObject({ "@alias": "repo-21", "@priority": "90" });
  });

  it("asks for patterns by capability, in the bootstrap of a system without its own package manager", () => {
    const { packages } = described();

    expect(packages["@type"]).toBe("bootstrap");
    expect(packages.package.map((entry: Record<string, string>) => entry["@name"])).toEqual([
      "hello",
      "repo-21:vim=1.0-1",
      "pattern() = base",
    ]);
  });

  it("keeps the bootstrap apart where the image installs its own packages", () => {
    const { packages } = described({ bootstrap: ["filesystem", "zypper"] });

    expect(packages.map((section: Record<string, string>) => section["@type"])).toEqual(["bootstrap", "image"]);
    expect(packages[0].package).toHaveLength(2);
    expect(packages[1].package).toHaveLength(3);
  });

  it("gives users hashes and the locale in KIWI's words", () => {
    const { users, preferences } = described();

    expect(users.user).toMatchObject({ "@password": "$6$salt$hash", "@pwdformat": "encrypted", "@id": "0" });
    expect(preferences).toMatchObject({ locale: "de_DE", keytable: "de", timezone: "Europe/Vienna", version: "0.0.3" });
  });

  it.each([
    ["oem", { "@image": "oem", "@filesystem": "ext4" }],
    ["iso", { "@image": "iso", "@flags": "overlay" }],
  ] as const)("describes %s", (imageType, type) => {
    expect(described({ imageType }).preferences.type).toMatchObject(type);
  });
});
