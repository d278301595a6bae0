import { describe, expect, it } from "vitest";
import {
  englishFile,
  mergedPatternsFile,
  packagesFile,
  patternFiles,
  patternList,
  readContent,
} from "#lib/repodata/susetags";
import content from "../fixtures/repodata/content?raw";
import { bytesOf, expectFault } from "./support.ts";

describe("readContent", () => {
  it("reads directories, checksums, keys and the distribution", () => {
    const read = readContent(bytesOf(content));
    expect(read).toMatchObject({
      label: "Halden 12.1",
      distributions: [{ cpeId: "cpe:/o:halden:halden:12.1", name: "Halden 12.1" }],
      descriptionDirectory: "suse/setup/descr",
      dataDirectory: "suse",
    });
    expect(read.keys.get("gpg-pubkey-0dfb3188.asc")).toEqual({ type: "sha1", hex: "c".repeat(40) });
    expect(packagesFile(read)).toEqual({
      path: "suse/setup/descr/packages.gz",
      checksum: { type: "sha1", hex: "a".repeat(40) },
    });
    expect(englishFile(read)?.path).toBe("suse/setup/descr/packages.en.gz");
  });

  it("reads Windows line endings and a distribution without a CPE", () => {
    const read = readContent(bytesOf("DISTRO Old Halden\r\nDESCRDIR d\r\nDATADIR s\r\n"));
    expect(read.distributions).toEqual([{ name: "Old Halden" }]);
    expect(read.dataDirectory).toBe("s");
  });

  it.each([
    ["a page that says 404", "<html>not found</html>", "malformed_metadata"],
    ["no DESCRDIR", "DATADIR suse\n", "malformed_metadata"],
    ["a directory outside the repository", "DATADIR suse\nDESCRDIR ../../descr\n", "forbidden_location"],
    [
      "a file outside the repository",
      `DATADIR s\nDESCRDIR d\nMETA SHA1 ${"a".repeat(40)}  ../packages.gz\n`,
      "forbidden_location",
    ],
    ["a short checksum", "DATADIR s\nDESCRDIR d\nMETA SHA1 abc  packages.gz\n", "malformed_metadata"],
    ["a line without a name", "DATADIR s\nDESCRDIR d\nMETA SHA1\n", "malformed_metadata"],
  ] as const)("refuses %s", async (_, text, code) => {
    await expectFault(() => readContent(bytesOf(text)), code);
  });

  it("finds the pattern files in the list, with any compression", async () => {
    const read = readContent(bytesOf(content));
    expect([mergedPatternsFile(read), patternList(read)]).toEqual([undefined, undefined]);
    expect(patternFiles(read, bytesOf("base-12.1-1.x86_64.pat\r\n\n"))).toEqual([
      { path: "suse/setup/descr/base-12.1-1.x86_64.pat.gz", checksum: { type: "sha1", hex: "d".repeat(40) } },
    ]);
    await expectFault(() => patternFiles(read, bytesOf("../other.pat\n")), "malformed_metadata", /no checksum/);
  });

  it("refuses a repository that lists no packages", async () => {
    await expectFault(() => packagesFile(readContent(bytesOf("DATADIR s\nDESCRDIR d\n"))), "malformed_metadata");
  });
});
