import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Qemu } from "../testdrive/qemu.ts";
import { userOfSession } from "../testdrive/rights.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";

const socketName = "state.sock";
const Migration = z.object({ status: z.string().default("none"), "error-desc": z.string().optional() });
const withoutLimit = 2 ** 40;

export interface SaveOptions {
  dir: SessionDir;
  testdriveId: number;
  /** The largest state. A QEMU that its guest has taken over could write forever. */
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Stops the machine and writes its state to `into`, over a socket: to write a file, QEMU 7.2 would have to start a
 * program, which its sandbox forbids.
 */
export async function saveState(qemu: Qemu, into: string, options: SaveOptions): Promise<void> {
  const { dir, testdriveId, signal } = options;
  const server = createServer();
  try {
    server.listen(dir.socket(socketName));
    await once(server, "listening", { signal });
    await letIn(dir, testdriveId);
    const written = once(server, "connection", { signal }).then(([socket]: Socket[]) => write(socket, into, options));
    written.catch(() => {}); // awaited below
    await qemu.execute("stop");
    await qemu.execute("migrate-set-parameters", { "max-bandwidth": withoutLimit });
    await qemu.execute("migrate", { uri: `unix:${socketName}` });
    await untilMigrated(qemu, signal);
    await written;
  } finally {
    server.close();
  }
}

async function write(socket: Socket | undefined, into: string, { maxBytes, signal }: SaveOptions): Promise<void> {
  if (!socket) return;
  const file = createWriteStream(into, { flags: "wx", mode: 0o600 });
  await pipeline(socket, (bytes: AsyncIterable<Buffer>) => atMost(maxBytes, bytes), file, { signal });
}

async function* atMost(maxBytes: number, bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let received = 0;
  for await (const chunk of bytes) {
    received += chunk.length;
    if (received > maxBytes) throw new Error("the saved state is larger than the machine's memory");
    yield chunk;
  }
}

/** Gives the socket to the user that QEMU has become. Only the agent may enter the directories above. */
async function letIn(dir: SessionDir, testdriveId: number): Promise<void> {
  const user = userOfSession(testdriveId);
  if (user === undefined) return;
  await chmod(dir.path, 0o711);
  await chown(dir.file(socketName), user, user);
}

async function untilMigrated(qemu: Qemu, signal: AbortSignal): Promise<void> {
  for (;;) {
    const migration = Migration.parse(await qemu.execute("query-migrate"));
    if (migration.status === "completed") return;
    if (/^(failed|cancelled)$/.test(migration.status))
      throw new Error(`QEMU did not save its state: ${migration["error-desc"] ?? migration.status}`);
    await sleep(50, undefined, { signal });
  }
}
