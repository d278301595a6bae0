import { connect, type Socket } from "node:net";
import type { RawData, WebSocket } from "ws";
import { Credit, creditWindowBytes, maxFrameBytes } from "../contract.ts";
import { CreditWindow } from "./credit-window.ts";
import { watch } from "../redial.ts";

export interface Viewer {
  /** The viewer's id, which also shows whether it gives credit. */
  viewer: string;
  /** Returns a socket to the Worker before it is connected. */
  dial: () => WebSocket;
  /** QEMU's unix socket. */
  vncPath: string;
  signal: AbortSignal;
}

/** How long a frame waits for more bytes. The first frame after a pause does not wait. */
const gatherMs = 1;

/** Joins one viewer with QEMU's VNC socket over its own connection. Settles when both are closed. */
export async function joinViewer({ viewer, dial, vncPath, signal }: Viewer): Promise<void> {
  if (signal.aborted) return;
  const socket = dial();
  const vnc = connect({ path: vncPath }).pause();
  const window = new CreditWindow(viewer);
  const frames = new FrameSender(vnc, socket, window);
  watch(socket);
  const abort = () => socket.terminate();
  signal.addEventListener("abort", abort);

  socket.on("open", () => frames.start());
  socket.on("message", (data, isBinary) => {
    if (isBinary) return forward(data, socket, vnc);
    const credit = parseCredit(data);
    if (credit === undefined) return socket.close(1008, "not a credit");
    window.credit(credit);
    frames.flush();
  });
  socket.on("error", () => {}); // "close" follows
  vnc.on("error", () => vnc.destroy());
  vnc.on("end", () => frames.flush());
  vnc.on("close", () => (socket.readyState === socket.CONNECTING ? socket.terminate() : socket.close(1000)));
  try {
    await new Promise((resolve) => socket.once("close", resolve));
  } finally {
    signal.removeEventListener("abort", abort);
    frames.stop();
    vnc.destroy();
  }
}

/**
 * Forwards keys and pointer events. Pauses the viewer's socket while the guest reads none, so that memory does not
 * fill.
 */
function forward(data: RawData, socket: WebSocket, vnc: Socket): void {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data;
  if (vnc.write(bytes)) return;
  socket.pause();
  vnc.once("drain", () => socket.resume());
}

function parseCredit(data: RawData): number | undefined {
  try {
    return Credit.parse(JSON.parse(String(data))).credit;
  } catch {
    return undefined;
  }
}

/**
 * Sends QEMU's bytes as frames of at most maxFrameBytes, as far as the viewer's window and our own buffer have room.
 */
class FrameSender {
  readonly #vnc: Socket;
  readonly #socket: WebSocket;
  readonly #window: CreditWindow;
  #chunks: Buffer[] = [];
  #waitingBytes = 0;
  #sentAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(vnc: Socket, socket: WebSocket, window: CreditWindow) {
    this.#vnc = vnc;
    this.#socket = socket;
    this.#window = window;
  }

  start(): void {
    this.#vnc.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#waitingBytes += chunk.length;
      const isSilent = performance.now() - this.#sentAt > gatherMs;
      if (isSilent || this.#waitingBytes >= maxFrameBytes) this.flush();
      else this.#timer ??= setTimeout(() => this.flush(), gatherMs);
      this.#holdBack();
    });
    this.#vnc.resume();
  }

  flush(): void {
    this.stop();
    for (;;) {
      const bytes = Math.min(this.#waitingBytes, maxFrameBytes, this.#window.room);
      if (bytes <= 0 || this.#socket.bufferedAmount >= creditWindowBytes) break;
      this.#send(bytes);
    }
    this.#holdBack();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #send(bytes: number): void {
    const waiting = Buffer.concat(this.#chunks);
    this.#chunks = waiting.length === bytes ? [] : [waiting.subarray(bytes)];
    this.#waitingBytes -= bytes;
    this.#window.sent(bytes);
    this.#sentAt = performance.now();
    // When these bytes are sent, the loop continues: our full buffer may have stopped it.
    this.#socket.send(waiting.subarray(0, bytes), { binary: true }, (error) => {
      if (!error && this.#waitingBytes > 0 && this.#timer === undefined) this.flush();
    });
  }

  /** Stops reading from QEMU while a whole frame waits. QEMU then skips updates instead of queueing them. */
  #holdBack(): void {
    if (this.#waitingBytes >= maxFrameBytes) this.#vnc.pause();
    else if (this.#vnc.isPaused()) this.#vnc.resume();
  }
}
