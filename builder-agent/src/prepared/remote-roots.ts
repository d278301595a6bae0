import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { quietLimit } from "../quiet-limit.ts";
import { partBytes, partDigestHeader } from "../contract.ts";
import { RemoteRefusal } from "../retry.ts";
import { writeAll } from "../testdrive/write-all.ts";
import { openDigests } from "../upload/checksum.ts";
import { upload, wholeFile } from "../upload/upload.ts";
import type { Lease } from "../lease.ts";
import type { WorkerApi } from "../worker-api.ts";
import type { RemoteRoots } from "./share.ts";

/** Roots that agents share through the Worker, which stores them for this build's appliance. */
export const remoteRoots = (api: Pick<WorkerApi, "readPrepared" | "artifact">, build: Lease): RemoteRoots => ({
  async fetch(key, into, signal) {
    const quiet = quietLimit(signal);
    try {
      const answer = await api.readPrepared(build, key, quiet.signal).catch(undefinedWhenMissing);
      if (!answer) return false;
      const actual = await receive(answer, into, quiet.heard);
      if (actual !== answer.headers.get(partDigestHeader)) throw new Error("it is not what another agent stored");
      return true;
    } finally {
      quiet.end();
    }
  },
  async has(key, signal) {
    const answer = await api.readPrepared(build, key, signal).catch(undefinedWhenMissing);
    await answer?.body?.cancel();
    return answer !== undefined;
  },
  async give(file, signal) {
    const digests = openDigests(partBytes);
    await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), digests.through, drain, { signal });
    const archive = { path: file, fileName: "prepared.tar.zst", digests: digests.result() };
    await upload(api.artifact(build, "prepared", signal), wholeFile(archive), () => {});
  },
});

function undefinedWhenMissing(error: unknown): undefined {
  if (error instanceof RemoteRefusal && error.status === 404) return undefined;
  throw error;
}

/** → the SHA-256 of what came. */
async function receive(answer: Response, into: string, onBytes: () => void): Promise<string> {
  await using file = await open(into, "wx", 0o600);
  const digest = createHash("sha256");
  let size = 0;
  for await (const bytes of answer.body ?? []) {
    onBytes();
    await writeAll(file, bytes, size);
    digest.update(bytes);
    size += bytes.length;
  }
  return digest.digest("hex");
}

async function drain(source: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of source);
}
