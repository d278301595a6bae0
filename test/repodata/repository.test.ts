import { createHash } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Download } from "#lib/repodata/opened-repository";
import { openPart, openRepository } from "#lib/repodata/repository";
import { slices } from "#lib/repodata/slices";
import content from "../fixtures/repodata/content?raw";
import signedRepomd from "../fixtures/repodata/signed/repomd.xml?raw";
import stranger from "../fixtures/repodata/signed/stranger.asc?raw";
import tiny from "../fixtures/repodata/signed/tiny.asc?raw";
import tinyKey from "../fixtures/repodata/signed/tiny.key?raw";
import { bytesOf, collected, expectFault, inChunks, noOthers, textOf, zeros } from "./support.ts";

type Served = Record<string, Uint8Array | string>;
const serving =
  (files: Served): Download =>
  async (path) => {
    const file = files[path];
    return file === undefined ? undefined : inChunks(file, 1000);
  };
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const primaryXml = `<?xml version="1.0"?><metadata>${"<package><name>a</name></package>".repeat(100)}</metadata>`;

/** A repository with one list of packages. `changes` makes it invalid. */
function repository(
  { body = new Uint8Array(gzipSync(primaryXml)), path = "repodata/primary.xml.gz", ...announced } = {} as {
    body?: Uint8Array;
    path?: string;
    checksum?: string;
    openChecksum?: string;
    size?: number;
    openSize?: number;
  },
): Served {
  const { checksum = sha256(body), openChecksum = sha256(primaryXml), size = body.byteLength } = announced;
  const { openSize = primaryXml.length } = announced;
  return {
    "repodata/repomd.xml": `<repomd><data type="primary"><checksum type="sha256">${checksum}</checksum>
      <open-checksum type="sha256">${openChecksum}</open-checksum><location href="${path}"/>
      <size>${size}</size><open-size>${openSize}</open-size></data></repomd>`,
    [path]: body,
  };
}

async function packagesOf(files: Served): Promise<string> {
  const [packages = expect.fail("it has no list")] = (await openRepository(serving(files))).packages;
  return textOf(await collected(await openPart(packages, serving(files), noOthers)));
}

describe("openRepository", () => {
  it("opens an rpm-md repository; its revision is the checksum of its index", async () => {
    const files = repository();
    expect(await openRepository(serving(files))).toMatchObject({
      type: "rpm-md",
      revision: sha256(files["repodata/repomd.xml"] ?? ""),
      signer: undefined,
      packages: [{ path: "repodata/primary.xml.gz" }],
    });
  });

  it("opens a yast2 repository if there is no repomd.xml", async () => {
    expect(await openRepository(serving({ content }))).toMatchObject({
      type: "yast2",
      distributions: [{ cpeId: "cpe:/o:halden:halden:12.1", name: "Halden 12.1" }],
      packages: [{ path: "suse/setup/descr/packages.gz" }],
      descriptions: { path: "suse/setup/descr/packages.en.gz" },
    });
  });

  it("returns its signer, and refuses a signature by another key", async () => {
    const index = { "repodata/repomd.xml": signedRepomd, "repodata/repomd.xml.key": tinyKey };
    const { signer } = await openRepository(serving({ ...index, "repodata/repomd.xml.asc": tiny }));
    expect(signer?.fingerprint).toBe("E7B7D4B6C6D01C53E594CB9496D4DB2024DDEB41");
    await expectFault(openRepository(serving({ ...index, "repodata/repomd.xml.asc": stranger })), "bad_signature");
  });

  it.each([
    ["an empty server", {}, "not_a_repository"],
    ["a repomd.xml without packages", { "repodata/repomd.xml": "<repomd/>" }, "malformed_metadata"],
    ["a page for every path", { "repodata/repomd.xml": "<html><body>Hello</body></html>" }, "malformed_metadata"],
  ] as const)("refuses %s", async (_, files, code) => {
    await expectFault(openRepository(serving(files)), code);
  });

  it("reads at most a mebibyte of an endless repomd.xml", async () => {
    const { stream, counter } = zeros(2 ** 30);
    await expectFault(
      openRepository(async (path) => (path.endsWith("repomd.xml") ? stream : undefined)),
      "too_large",
    );
    expect(counter.givenBytes).toBeLessThan(2 ** 21);
  });
});

describe("openPart", () => {
  it.each([
    ["gzip", repository()],
    ["zstd", repository({ body: new Uint8Array(zstdCompressSync(primaryXml)), path: "primary.xml.zst" })],
    ["plain bytes", repository({ body: bytesOf(primaryXml), path: "primary.xml" })],
    ["gzip under another name", repository({ path: "primary.xml.zst" })],
  ])("opens %s", async (_, files) => {
    expect(await packagesOf(files)).toBe(primaryXml);
  });

  it.each([
    ["a wrong checksum", repository({ checksum: "0".repeat(64) }), "checksum_mismatch"],
    ["a wrong checksum of the decompressed file", repository({ openChecksum: "0".repeat(64) }), "checksum_mismatch"],
    ["more bytes than announced", repository({ size: 10 }), "too_large"],
    ["more decompressed bytes than announced", repository({ openSize: 10 }), "too_large"],
    ["an announced petabyte", repository({ size: 9e14 }), "too_large"],
    ["an announced decompressed petabyte", repository({ openSize: 9e14 }), "too_large"],
    [
      "bytes that cannot be decompressed",
      repository({ body: gzipSync(primaryXml).subarray(0, 50) }),
      "damaged_compression",
    ],
  ] as const)("refuses %s", async (_, files, code) => {
    await expectFault(packagesOf(files), code);
  });

  it("refuses a file that is announced but missing", async () => {
    const { "repodata/primary.xml.gz": _, ...files } = repository();
    await expectFault(packagesOf(files), "malformed_metadata", /does not exist/);
  });

  it("reports a wrong checksum to the reader of the slices", async () => {
    const large = `<metadata>${"<package><name>a</name></package>".repeat(10_000)}</metadata>`;
    const files = repository({ body: new Uint8Array(gzipSync(large)), openSize: large.length });
    const [packages = expect.fail("it has no list")] = (await openRepository(serving(files))).packages;
    let slicesRead = 0;
    const importing = async () => {
      const opened = await openPart(packages, serving(files), noOthers);
      for await (const _ of slices(opened, "primary", { records: 100 })) slicesRead++;
    };
    await expectFault(importing(), "checksum_mismatch", /opened/);
    expect(slicesRead).toBeGreaterThan(0);
  });

  it("refuses a decompression bomb with right checksums", async () => {
    const bomb = new Uint8Array(32 << 20);
    const files = repository({
      body: new Uint8Array(gzipSync(bomb)),
      openChecksum: sha256(bomb),
      openSize: bomb.byteLength,
    });
    await expectFault(packagesOf(files), "too_large", /decompresses to more/);
  });
});
