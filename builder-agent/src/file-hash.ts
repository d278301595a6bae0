import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * SHA-256 of a file, in hex. A thread computes it: a disk of some GB takes seconds, and the agent's own thread serves
 * testdrives and uploads.
 */
export async function sha256OfFile(file: string, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const thread = new Worker(new URL("./file-hash-thread.ts", import.meta.url), { workerData: file });
  try {
    const [digest] = await once(thread, "message", { signal });
    return String(digest);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await thread.terminate();
  }
}
