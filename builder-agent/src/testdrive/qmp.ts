import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { boundedLines } from "./bounded-lines.ts";

const Message = z.union([
  z.object({ event: z.string(), data: z.unknown().optional() }),
  z.object({ error: z.object({ desc: z.string() }) }),
  z.object({ QMP: z.object({ version: z.unknown() }) }),
  z.object({ return: z.unknown() }),
]);

export interface QmpEvent {
  event: string;
  data?: unknown;
}

/** QEMU has ended, or has sent something that is not QMP. */
export class QmpClosed extends Error {
  constructor() {
    super("QEMU closed its control connection");
    this.name = "QmpClosed";
  }
}

/** QEMU's control connection. QEMU answers commands in order. `execute` rejects if QEMU refuses or has ended. */
export interface Qmp extends Disposable {
  execute(command: string, args?: Record<string, unknown>): Promise<unknown>;
}

/**
 * Connects as soon as QEMU listens on the socket, until `signal` is aborted. QEMU executes its first command only when
 * its command line is done, so when this settles, the VNC servers accept connections.
 */
export async function openQmp(path: string, onEvent: (event: QmpEvent) => void, signal: AbortSignal): Promise<Qmp> {
  const socket = await untilConnected(path, signal);
  const qmp = speakQmp(socket, onEvent);
  const give = () => socket.destroy();
  signal.addEventListener("abort", give);
  try {
    await qmp.execute("qmp_capabilities");
    return qmp;
  } catch (error) {
    qmp[Symbol.dispose]();
    throw error;
  } finally {
    signal.removeEventListener("abort", give);
  }
}

/** Connects to a unix socket as soon as a process listens on it. */
export async function untilConnected(path: string, signal: AbortSignal): Promise<Socket> {
  for (;;) {
    signal.throwIfAborted();
    const socket = await tryConnect(path);
    if (socket) return socket;
    await sleep(10, undefined, { signal });
  }
}

/** A connection to a unix socket. Undefined if no process listens on it yet. */
function tryConnect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(socket)).once("error", () => resolve(undefined));
  });
}

function speakQmp(socket: Socket, onEvent: (event: QmpEvent) => void): Qmp {
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const lines = boundedLines(socket);
  lines.on("line", (line) => {
    const message = parseMessage(line);
    if (message === undefined) return void socket.destroy();
    if ("event" in message) return onEvent(message);
    if ("QMP" in message) return;
    const asked = waiting.shift();
    if ("error" in message) asked?.reject(new Error(`QEMU: ${message.error.desc}`));
    else asked?.resolve(message.return);
  });
  // When QEMU ends, both may emit an error before "close".
  lines.on("error", () => {});
  socket.on("error", () => {});
  socket.on("close", () => {
    for (const asked of waiting.splice(0)) asked.reject(new QmpClosed());
  });
  return {
    execute(command, args) {
      const asked = Promise.withResolvers<unknown>();
      if (socket.destroyed) asked.reject(new QmpClosed());
      else {
        waiting.push(asked);
        socket.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }) })}\n`);
      }
      return asked.promise;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** QEMU runs code of untrusted users: its output must not be able to crash the agent. */
function parseMessage(line: string): z.infer<typeof Message> | undefined {
  try {
    return Message.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
