import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseChecksum, verified } from "#lib/repodata/checksum";
import { collected, expectFault, inChunks, textOf } from "./support.ts";

const text = "not much text";

describe("verified", () => {
  it.each(["md5", "sha1", "sha224", "sha256", "sha384", "sha512"])("passes bytes with the right %s", async (type) => {
    const expected = parseChecksum(type, createHash(type).update(text).digest("hex").toUpperCase());
    expect(textOf(await collected(inChunks(text).pipeThrough(verified(expected, "it"))))).toBe(text);
  });

  it("fails at the end, with both checksums, if a byte differs", async () => {
    const expected = parseChecksum("sha", createHash("sha1").update(text).digest("hex"));
    const stream = inChunks(text.replace("n", "N")).pipeThrough(verified(expected, "primary.xml.gz"));
    await expectFault(collected(stream), "checksum_mismatch", new RegExp(`primary.xml.gz.*expected ${expected.hex}`));
  });

  it("fails if bytes are missing", async () => {
    const expected = parseChecksum("md5", createHash("md5").update(text).digest("hex"));
    await expectFault(collected(inChunks(text.slice(1)).pipeThrough(verified(expected, "it"))), "checksum_mismatch");
    await expectFault(collected(inChunks("").pipeThrough(verified(expected, "it"))), "checksum_mismatch");
  });
});
