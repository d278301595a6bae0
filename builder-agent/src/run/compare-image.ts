import type { Lease } from "../lease.ts";
import { upload, wholeFile } from "../upload/upload.ts";
import type { WorkerApi } from "../worker-api.ts";
import type { Artifacts } from "./artifacts.ts";

/**
 * Has the Worker compare the image of a rebuild with the first one, and sends the index of its files. Those of equal images are
 * compared, too: the first agent may have listed others. Returns the line for the log.
 */
export async function compareImage(
  { image, store }: Artifacts,
  { api, lease, signal }: { api: Pick<WorkerApi, "rebuilt" | "artifact">; lease: Lease; signal: AbortSignal },
): Promise<string> {
  const isSame = await api.rebuilt(lease, image.digests, signal);
  await upload(api.artifact(lease, "files-index", signal), wholeFile(store.index), () => {});
  return isSame ? "the image is the same as the first one" : "the image differs from the first one";
}
