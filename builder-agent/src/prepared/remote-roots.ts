import { partDigestHeader } from "../contract.ts";
import { quietLimit, receive } from "../receive.ts";
import { RemoteRefusal } from "../retry.ts";
import { digestsOfFile } from "../upload/checksum.ts";
import { upload, wholeFile } from "../upload/upload.ts";
import type { Lease } from "../lease.ts";
import type { WorkerApi } from "../worker-api.ts";
import type { RemoteRoots } from "./share.ts";

/** Roots of this build's appliance, which agents share through the Worker. */
export const remoteRoots = (api: Pick<WorkerApi, "readPrepared" | "artifact">, build: Lease): RemoteRoots => ({
  async fetch(key, into, signal) {
    using quiet = quietLimit(signal);
    const answer = await api.readPrepared(build, key, quiet.signal).catch(undefinedWhenMissing);
    if (!answer) return false;
    const actual = await receive(answer.body, into, { onBytes: quiet.heard, flags: "wx", mode: 0o600 });
    if (actual !== answer.headers.get(partDigestHeader))
      throw new Error("its checksum differs from that of the root that the other agent stored");
    return true;
  },
  async has(key, signal) {
    const answer = await api.readPrepared(build, key, signal).catch(undefinedWhenMissing);
    await answer?.body?.cancel();
    return answer !== undefined;
  },
  async give(file, signal) {
    const archive = { path: file, fileName: "prepared.tar.zst", digests: await digestsOfFile(file, signal) };
    await upload(api.artifact(build, "prepared", signal), wholeFile(archive), () => {});
  },
});

function undefinedWhenMissing(error: unknown): undefined {
  if (error instanceof RemoteRefusal && error.status === 404) return undefined;
  throw error;
}
