import { describe, expect, it } from "vitest";
import { sourceLines, sourceStanzas } from "../../scripts/solver/apt.ts";
import { inputsHash } from "../../scripts/solver/inputs.ts";
import { sourcePackages } from "../../scripts/solver/pins.ts";

describe("apt's own sources", () => {
  it("are used for source packages, with their options and keys", () => {
    const line = "deb [signed-by=/usr/share/keyrings/debian.gpg] http://mirror.example.org/debian/ bookworm main";
    expect(sourceLines(`# a comment\n${line}\n`)).toBe(`${line.replace("deb ", "deb-src ")}\n`);
  });
  it("of other publishers are ignored", () => {
    const others = [
      "deb https://packages.example.org/apt stable main",
      "deb-src http://deb.debian.org/debian bookworm main",
    ];
    expect(sourceLines(others.join("\n"))).toBe("");
  });
  it("can be in deb822 format", () => {
    const debian =
      "Types: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm bookworm-updates\nSigned-By: /k.gpg";
    const security = debian.replace("/debian\n", "/debian-security\n").replace("Types: deb", "Types: deb deb-src");
    const other = "Types: deb\nURIs: https://deb.example.org/node_20.x\nSuites: nodistro";
    const stanzas = sourceStanzas([debian, other, security].join("\n\n"));
    expect(stanzas.match(/^Types: deb-src$/gm)).toHaveLength(2);
    expect(stanzas).toContain("Suites: bookworm bookworm-updates\nSigned-By: /k.gpg");
    expect(stanzas).not.toContain("nodistro");
  });
});

describe("the pins", () => {
  it("include a version and two sha256 checksums per source package", () => {
    expect(sourcePackages.map(({ name }) => name)).toEqual(["libsolv", "expat", "xz-utils", "bzip2"]);
    for (const { name, version, files } of sourcePackages) {
      const upstream = version.slice(0, version.lastIndexOf("-"));
      expect(Object.keys(files)).toEqual([
        expect.stringContaining(`${name}_${upstream}.orig.tar`),
        expect.stringContaining(`${name}_${version}.debian.tar`),
      ]);
      for (const digest of Object.values(files)) expect(digest).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});

describe("the hash of the inputs", () => {
  it("changes only if another source tree is given", async () => {
    const before = await inputsHash();
    process.env["BZIP2_SRC"] = new URL("../solver", import.meta.url).pathname;
    const given = await inputsHash();
    delete process.env["BZIP2_SRC"];
    expect(given).not.toBe(before);
    expect(await inputsHash()).toBe(before);
  });
});
