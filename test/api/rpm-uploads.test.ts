import { gzipSync, zstdCompressSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { rpmOf, sourceRpmOf } from "../support/packages.ts";
import {
  base,
  blobCount,
  decoded,
  form,
  innerBzip2,
  innerXz,
  listed,
  pair,
  send,
  tarOf,
  uploaded,
} from "../support/rpm-uploads.ts";

beforeAll(loadTemplates);

describe("POST /rpms", () => {
  it("adds an RPM and returns its metadata", async () => {
    const tux = await signedIn();
    const file = rpmOf("counterd");

    const rpm = await uploaded(send(tux, form(file, { name: "counterd-1.0-1.noarch.rpm" })));

    expect(rpm).toEqual({
      id: expect.stringMatching(/^\d+$/),
      filename: "counterd-1.0-1.noarch.rpm",
      size: String(file.byteLength),
      archive: "false",
      base_system: base,
      checksum: { "@type": "md5", "#text": expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
    expect(await listed(tux)).toEqual(["counterd-0:1.0-1.noarch"]);
  });

  it.each<[string, { before?: object; after?: object; path?: string }]>([
    ["before the file", { before: { base_system: base } }],
    ["after the file", { after: { base_system: base } }],
    ["after the file, and empty in the query", { after: { base_system: base }, path: "/rpms?base_system=" }],
  ])("accepts base_system as a field %s", async (_, { path = "/rpms", ...fields }) => {
    const tux = await signedIn();
    expect((await uploaded(send(tux, form(rpmOf("a"), fields), { path }))).base_system).toBe(base);
  });

  it("accepts the file as a raw body, with any Content-Type", async () => {
    const tux = await signedIn();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const rpm = await uploaded(send(tux, rpmOf("raw"), { headers }));
    expect(rpm.filename).toBe("raw-1.0-1.noarch.rpm");
  });

  it("streams a large RPM, in parts", async () => {
    const tux = await signedIn();
    const file = rpmOf("large", { payload: "p".repeat(20 * 2 ** 20) });
    const rpm = await uploaded(send(tux, form(file)));
    expect(rpm.size).toBe(String(file.byteLength));
    const data = new Uint8Array(await (await tux.get(`/rpms/${rpm.id}/data`)).arrayBuffer());
    expect(await crypto.subtle.digest("SHA-256", data)).toEqual(await crypto.subtle.digest("SHA-256", file));
  });

  it.each([
    ["a.tar", (tar: Uint8Array) => tar],
    ["a.tar.gz", gzipSync],
    ["a.tgz", gzipSync],
    ["a.tar.zst", zstdCompressSync],
  ])("accepts a tarball of RPMs: %s", async (name, compress) => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(Uint8Array.from(compress(await pair())), { name })));
    expect(rpm).toMatchObject({ filename: name, archive: "true" });
    expect(await listed(tux)).toEqual(["one-0:1.0-1.noarch", "two-0:1.0-1.noarch"]);
  });

  it.each([
    ["a.tar.xz", innerXz],
    ["a.tar.bz2", innerBzip2],
  ])("accepts a tarball of RPMs: %s", async (name, base64) => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(decoded(base64), { name })));
    expect(rpm).toMatchObject({ filename: name, archive: "true" });
    expect(await listed(tux)).toEqual(["inner-0:1.0-1.noarch"]);
  });

  it("skips source packages in a tarball", async () => {
    const tux = await signedIn();
    await uploaded(send(tux, form(await tarOf({ "s.src.rpm": sourceRpmOf("s"), "b.rpm": rpmOf("b") }))));
    expect(await listed(tux)).toEqual(["b-0:1.0-1.noarch"]);
  });

  it("replaces an earlier build of the same package, under its id", async () => {
    const tux = await signedIn();
    const first = await uploaded(send(tux, form(rpmOf("a", { payload: "old" }))));
    const blobs = await blobCount();
    const second = await uploaded(send(tux, form(rpmOf("a", { payload: "brand new" }))));
    expect(second.id).toBe(first.id);
    expect(second.checksum).not.toEqual(first.checksum);
    expect(await listed(tux)).toHaveLength(1);
    expect(await blobCount()).toBe(blobs);
  });

  it("keeps versions and architectures of a package separate", async () => {
    const tux = await signedIn();
    for (const facts of [{ version: "1" }, { version: "2" }, { arch: "x86_64" }]) {
      await uploaded(send(tux, form(rpmOf("a", facts))));
    }
    expect(await listed(tux)).toHaveLength(3);
  });

  it("uses only the last segment of a file name", async () => {
    const tux = await signedIn();
    const names: Record<string, string> = {
      "../../etc/passwd": "passwd",
      "C:\\rpms\\a.rpm": "a.rpm",
      "..": "p-1.0-1.noarch.rpm",
      ".hidden rpm;ä.rpm": "hidden_rpm_.rpm",
    };
    for (const [name, expected] of Object.entries(names)) {
      expect((await uploaded(send(tux, form(rpmOf("p"), { name })))).filename).toBe(expected);
    }
  });
});
