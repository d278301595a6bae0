import { createHash } from "node:crypto";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { download } from "../../src/testdrive/download.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { sessionToken, startFakeService } from "./fake-service.ts";

const image = randomBytes(300_000);
const signal = new AbortController().signal;
const leases = () => [{ id: 3, token: sessionToken }];
const ended = () => [{ id: 2, token: "of an ended session" }];
const both = () => [...ended(), ...leases()];

function claimOf(bytes: Buffer, more: { size?: number; sha256?: string } = {}) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    image: { fileName: "a.iso", size: bytes.length, rawSize: 1, compressed: false, sha256, ...more },
  };
}

describe("download", () => {
  it("resumes where an answer broke off, until it is complete", async () => {
    await using service = await startFakeService();
    await using dir = await temporaryDir();
    Object.assign(service, { image, cutAfter: 100_000 });
    const into = join(dir.path, "image");
    await download(into, { claim: claimOf(image), leases, api: service.api, signal });
    expect(image.equals(await readFile(into))).toBe(true);
    expect(service.ranges.length).toBeGreaterThan(2);
    expect(service.ranges).toEqual(service.ranges.toSorted((a, b) => a - b));
  });

  it("resumes when an answer goes silent", async () => {
    await using service = await startFakeService();
    await using dir = await temporaryDir();
    Object.assign(service, { image, cutAfter: 200_000, stalls: true });
    const into = join(dir.path, "image");
    await download(into, { claim: claimOf(image), leases, api: service.api, signal, stallMs: 200 });
    expect(image.equals(await readFile(into))).toBe(true);
  });

  it("continues with another session's token when the first has ended", async () => {
    await using service = await startFakeService();
    await using dir = await temporaryDir();
    service.image = image;
    const into = join(dir.path, "image");
    await download(into, { claim: claimOf(image), leases: both, api: service.api, signal });
    expect(image.equals(await readFile(into))).toBe(true);
    expect(service.imagePaths).toEqual(["/agent/testdrives/3/image"]);

    const job = { claim: claimOf(image), leases: ended, api: service.api, signal };
    await expect(download(join(dir.path, "other"), job)).rejects.toThrow("410");
  });

  it.each([
    ["a digest that was not announced", { sha256: "0".repeat(64) }, /SHA-256/],
    ["a length that was not announced", { size: 299_999 }, /answered 206 "bytes 0-299999\/300000"/],
  ])("refuses an image with %s", async (_, announced, why) => {
    await using service = await startFakeService();
    await using dir = await temporaryDir();
    service.image = image;
    const job = { claim: claimOf(image, announced), leases, api: service.api, signal };
    await expect(download(join(dir.path, "image"), job)).rejects.toThrow(why);
  });

  it("ends with the session's reason when the session ends meanwhile", async () => {
    await using service = await startFakeService();
    await using dir = await temporaryDir();
    Object.assign(service, { image, cutAfter: 1_000, stalls: true });
    const over = new AbortController();
    const onProgress = () => over.abort(new Error("the session is over"));
    const job = { claim: claimOf(image), leases, api: service.api, signal: over.signal, onProgress };
    await expect(download(join(dir.path, "image"), job)).rejects.toThrow("the session is over");
  });
});
