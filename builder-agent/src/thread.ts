import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * Runs a thread with `workerData`, and returns its only message. Work that takes seconds runs in a thread: the agent's
 * own thread serves testdrives and uploads.
 */
export async function messageOfThread<Message>(
  script: URL,
  workerData: unknown,
  signal?: AbortSignal,
): Promise<Message> {
  signal?.throwIfAborted();
  const thread = new Worker(script, { workerData });
  try {
    const [message] = (await once(thread, "message", { signal })) as [Message];
    return message;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await thread.terminate();
  }
}
