import { once } from "node:events";
import { statSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { Complaint } from "./complaint.ts";

/** Time for an earlier launcher to notice that npm was killed, or to finish stopping. */
const waitForRunningMs = 2_000;
const waitForStoppingMs = 20_000;
const checkEveryMs = 100;

const Holder = z.object({ pid: z.int(), stopping: z.boolean() });
type Holder = z.infer<typeof Holder>;

export type StateLock = {
  /** Announces to a launcher that waits for this directory that it will soon be free. */
  announceStopping(): void;
  release(): void;
};

/**
 * Allows one launcher per state directory. The lock is a socket in Linux's abstract namespace, named after the
 * directory's inode. The kernel frees it when its process ends, however that happens, so it can never be stale.
 */
export async function lockState(directory: string, signal?: AbortSignal): Promise<StateLock> {
  const startedAt = Date.now();
  for (;;) {
    const lock = await tryToLock(directory);
    if (lock !== undefined) return lock;
    const holder = await holderOf(directory);
    const patienceMs = holder?.stopping === false ? waitForRunningMs : waitForStoppingMs;
    if (Date.now() - startedAt > patienceMs) {
      const who = holder === undefined ? "another process" : `process ${holder.pid}`;
      throw new Complaint(`${directory} is in use by a running Kiln (${who}). Stop it, or choose another --state.`);
    }
    await sleep(checkEveryMs, undefined, { ...(signal && { signal }) });
  }
}

async function tryToLock(directory: string): Promise<StateLock | undefined> {
  let stopping = false;
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(JSON.stringify({ pid: process.pid, stopping } satisfies Holder));
  });
  server.listen(lockName(directory));
  try {
    await once(server, "listening");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
  server.unref();
  return { announceStopping: () => (stopping = true), release: () => server.close() };
}

/** The launcher that uses a directory. Undefined if none does, or it has just ended. */
export async function holderOf(directory: string): Promise<Holder | undefined> {
  const socket = createConnection(lockName(directory));
  let text = "";
  try {
    for await (const chunk of socket) text += String(chunk);
    return Holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function lockName(directory: string): string {
  const { dev, ino } = statSync(directory);
  return `\0kiln-state-${dev}-${ino}`;
}
