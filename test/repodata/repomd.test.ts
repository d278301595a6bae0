import { describe, expect, it } from "vitest";
import { pickPart, readRepomd } from "#lib/repodata/repomd";
import leap from "../fixtures/repodata/leap-repomd.xml?raw";
import { bytesOf, expectFault } from "./support.ts";

const sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
const repomd = (data: string) => bytesOf(`<?xml version="1.0"?><repomd>${data}</repomd>`);
const primary = (inside: string) =>
  repomd(`<data type="primary"><checksum type="sha1">${sha1}</checksum>${inside}</data>`);

describe("readRepomd", () => {
  it("reads revision, distribution and parts", () => {
    const { revision, distributions, content, parts } = readRepomd(bytesOf(leap));
    expect(revision).toBe("007");
    expect(distributions).toEqual([{ cpeId: "cpe:/o:halden:leap:15.5", name: "Halden Leap 15.5" }]);
    expect(content).toEqual(["pool"]);
    expect(parts.map(({ type }) => type)).toEqual(["primary", "primary", "primary", "updateinfo", "susedata.en"]);
    expect(parts[0]).toEqual({
      type: "primary",
      path: "repodata/primary.xml.gz",
      checksum: { type: "sha512", hex: "0".repeat(128) },
      openChecksum: { type: "sha512", hex: "1".repeat(128) },
      sizeBytes: 12_600_000,
      openBytes: 116_400_000,
      timestamp: 1_685_000_000,
    });
    expect(parts[1]?.checksum).toEqual({ type: "sha1", hex: sha1 });
  });

  it("picks the smallest readable part, and never zchunk", () => {
    const { parts } = readRepomd(bytesOf(leap));
    expect(pickPart(parts, "primary")?.path).toBe("repodata/primary.xml.zst");
    expect(pickPart(parts, "updateinfo")?.path).toBe("repodata/updateinfo.xml.xz");
    expect(pickPart(parts, "patterns")).toBeUndefined();
  });

  it("reads an empty repository", () => {
    expect(readRepomd(repomd(""))).toEqual({ distributions: [], content: [], parts: [] });
  });

  it("decodes entities and character references", () => {
    const [part] = readRepomd(primary('<location href="a&amp;b&#45;c.xml"/>')).parts;
    expect(part?.path).toBe("a&b-c.xml");
  });

  it.each([
    ["../../etc/passwd"],
    ["repodata/../../x.xml.gz"],
    ["repodata/%2e%2E/x.xml.gz"],
    ["repodata/.%2e/x.xml.gz"],
    ["a%2f..%2fb.xml"],
    ["/etc/passwd"],
    ["//other.example/x.xml.gz"],
    ["http://other.example/x.xml.gz"],
    ["FILE:///etc/passwd"],
    ["\\\\other.example\\x.xml.gz"],
    ["repodata\\..\\x.xml.gz"],
    ["&#46;&#46;/x.xml.gz"],
    ["."],
    ["repodata/a&#10;b.xml"],
    ["x".repeat(2000)],
  ])("refuses the location %s", async (href) => {
    await expectFault(() => readRepomd(primary(`<location href="${href}"/>`)), "forbidden_location");
  });

  it.each([
    [
      "an entity bomb",
      '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><repomd><revision>&b;</revision></repomd>',
    ],
    ["an external entity", '<!doctype x SYSTEM "file:///etc/passwd"><repomd/>'],
    ["another root", "<html><body>404</body></html>"],
    ["two roots", "<repomd></repomd><repomd></repomd>"],
    ["no root", "not found"],
    ["an empty file", ""],
    ["a cut off document", leap.slice(0, 700)],
    ["__proto__", "<repomd><__proto__><x/></__proto__></repomd>"],
    ["a part without checksum", '<repomd><data type="primary"><location href="a.xml"/></data></repomd>'],
    ["a part without location", `<repomd><data type="primary"><checksum type="sha">${sha1}</checksum></data></repomd>`],
    ["a checksum of wrong length", primaryWith("md5", sha1)],
    ["a checksum that is not hex", primaryWith("sha1", "z".repeat(40))],
    ["a size that is not a number", sized("1e9")],
    ["a negative size", sized("-1")],
  ])("refuses %s", async (_, xml) => {
    await expectFault(() => readRepomd(bytesOf(xml)), "malformed_metadata");
  });

  it("refuses an unknown checksum type", async () => {
    await expectFault(() => readRepomd(bytesOf(primaryWith("crc32", "00000000"))), "unsupported_format");
  });

  it("refuses bytes that are not UTF-8, and more than a mebibyte", async () => {
    await expectFault(() => readRepomd(Uint8Array.of(0x3c, 0xff, 0xfe)), "malformed_metadata", /UTF-8/);
    await expectFault(() => readRepomd(new Uint8Array(2 ** 20 + 1)), "too_large");
  });
});

function primaryWith(type: string, hex: string) {
  return `<repomd><data type="primary"><checksum type="${type}">${hex}</checksum><location href="a.xml"/></data></repomd>`;
}

function sized(size: string) {
  return `<repomd><data type="primary"><checksum type="sha">${sha1}</checksum><location href="a.xml"/><size>${size}</size></data></repomd>`;
}
