import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { partBytes } from "../../src/contract.ts";
import { digestsOfFile, openDigests } from "../../src/upload/checksum.ts";
import { upload, wholeFile } from "../../src/upload/upload.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { uploadedFile } from "../fake-artifacts.ts";
import { startFakeWorker } from "../fake-worker.ts";
import { temporaryDir, testConfig } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";

async function fileOf(dir: string, size: number) {
  const path = join(dir, "image");
  const bytes = randomBytes(size);
  writeFileSync(path, bytes);
  const digests = await digestsOfFile(path, new AbortController().signal);
  return { bytes, parts: digests.parts, file: wholeFile({ path, fileName: "image.iso", digests }) };
}

const hex = (name: string, part: Buffer) => createHash(name).update(part).digest("hex");

describe("openDigests", () => {
  it.each([0, 1, 9, 10, 11, 20, 25])("computes all digests of %i bytes in parts of 10", async (size) => {
    const digests = openDigests(10);
    const bytes = randomBytes(size);
    for (let at = 0; at < size; at += 7) digests.take(bytes.subarray(at, at + 7));

    const parts = Array.from({ length: Math.ceil(size / 10) }, (_, i) =>
      hex("sha256", bytes.subarray(i * 10, i * 10 + 10)),
    );
    expect(digests.result()).toEqual({
      size,
      md5: hex("md5", bytes),
      sha1: hex("sha1", bytes),
      sha256: hex("sha256", bytes),
      parts,
    });
  });
});

describe("upload", () => {
  it("sends parts of 16 MiB, and only the missing ones", async () => {
    await using worker = await startFakeWorker();
    await using dir = await temporaryDir();
    const { bytes, parts, file } = await fileOf(dir.path, 2 * partBytes + 1000);
    const build = worker.queueBuild(frozenInput());
    build.status = "running";
    const second = bytes.subarray(partBytes, 2 * partBytes);
    build.artifacts.image.parts.set(2, { bytes: second, sha256: parts[1] ?? "" });
    const api = connectWorker(testConfig(worker.url, dir.path));
    let sentBytes = 0;

    const lease = { id: build.claim.buildId, token: build.claim.token };
    await upload(api.artifact(lease, "image", AbortSignal.timeout(200_000)), file, (more) => void (sentBytes += more));

    expect(build.artifacts.image.puts.toSorted()).toEqual([1, 3]);
    expect(uploadedFile(build.artifacts.image).equals(bytes)).toBe(true);
    expect(build.artifacts.image.upload?.complete?.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(sentBytes).toBe(bytes.length);
  });

  it("sends a part again if another file's part is there", async () => {
    await using worker = await startFakeWorker();
    await using dir = await temporaryDir();
    const { bytes, file } = await fileOf(dir.path, 1000);
    const build = worker.queueBuild(frozenInput());
    build.status = "running";
    build.artifacts.image.parts.set(1, { bytes: Buffer.from("other"), sha256: "0".repeat(64) });
    const api = connectWorker(testConfig(worker.url, dir.path));

    const lease = { id: build.claim.buildId, token: build.claim.token };
    await upload(api.artifact(lease, "image", AbortSignal.timeout(200_000)), file, () => {});

    expect(uploadedFile(build.artifacts.image).equals(bytes)).toBe(true);
  });

  it("does not send a complete upload again", async () => {
    await using worker = await startFakeWorker();
    await using dir = await temporaryDir();
    const { file } = await fileOf(dir.path, 1000);
    const build = worker.queueBuild(frozenInput());
    build.status = "running";
    const api = connectWorker(testConfig(worker.url, dir.path));
    const artifact = api.artifact({ id: 1, token: build.claim.token }, "image", AbortSignal.timeout(200_000));

    await upload(artifact, file, () => {});
    await upload(artifact, file, () => {});

    expect(build.artifacts.image.puts).toEqual([1]);
  });
});
