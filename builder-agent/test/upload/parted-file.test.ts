import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { partBytes } from "../../src/contract.ts";
import { PartedFile } from "../../src/upload/parted-file.ts";
import { upload } from "../../src/upload/upload.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { uploadedFile } from "../fake-artifacts.ts";
import { startFakeWorker } from "../fake-worker.ts";
import { temporaryDir, testConfig } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";

async function openArtifact(dir: string) {
  const worker = await startFakeWorker();
  const build = worker.queueBuild(frozenInput());
  build.status = "running";
  const api = connectWorker(testConfig(worker.url, dir));
  const lease = { id: build.claim.buildId, token: build.claim.token };
  const artifact = api.artifact(lease, "image", AbortSignal.timeout(200_000));
  return { artifact, uploaded: build.artifacts.image, [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose]() };
}

describe("a file that is uploaded while it is written", () => {
  it("has sent each whole part before its end is written", async () => {
    await using dir = await temporaryDir();
    await using worker = await openArtifact(dir.path);
    const bytes = randomBytes(partBytes + 1000);
    await using file = await PartedFile.create(dir.path, "image.tar.gz");
    let sentBytes = 0;
    const sending = upload(worker.artifact, file, (more) => void (sentBytes += more));

    await file.write(bytes.subarray(0, partBytes - 1));
    await file.write(bytes.subarray(partBytes - 1, partBytes + 5));
    await vi.waitUntil(() => sentBytes === partBytes, { timeout: 200_000 });
    expect(worker.uploaded.upload?.complete).toBeNull();
    await file.write(bytes.subarray(partBytes + 5));
    const { path, digests } = await file.end();
    await sending;

    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(uploadedFile(worker.uploaded).equals(bytes)).toBe(true);
    expect(worker.uploaded.upload?.complete).toMatchObject({ size: bytes.length, sha256: digests.sha256 });
    expect(digests.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(sentBytes).toBe(bytes.length);
  });

  it("has one part if it is small", async () => {
    await using dir = await temporaryDir();
    await using worker = await openArtifact(dir.path);
    await using file = await PartedFile.create(dir.path, "image.tar.gz");
    const sending = upload(worker.artifact, file, () => {});
    await file.write(Buffer.from("small"));
    await file.end();
    await sending;

    expect(uploadedFile(worker.uploaded).toString()).toBe("small");
  });

  it("is not completed if its end never comes", async () => {
    await using dir = await temporaryDir();
    await using worker = await openArtifact(dir.path);
    const file = await PartedFile.create(dir.path, "image.tar.gz");
    const sending = upload(worker.artifact, file, () => {});
    await file.write(Buffer.from("half of it"));
    await Promise.all([
      expect(sending).rejects.toThrow("image.tar.gz was not written completely"),
      file[Symbol.asyncDispose](),
    ]);

    expect(worker.uploaded.upload?.complete).toBeNull();
  });

  it("cannot be used after a failed write", async () => {
    const file = await PartedFile.create("/dev", "full");
    expect(file.path).toBe(join("/dev", "full"));

    await expect(file.write(Buffer.from("no room"))).rejects.toThrow("ENOSPC");
    await expect(file.write(Buffer.alloc(0))).rejects.toThrow("ENOSPC");
    await expect(file.end()).rejects.toThrow("ENOSPC");
    await file[Symbol.asyncDispose]();
  });
});
