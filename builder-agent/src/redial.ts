import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { sentenceOf } from "./log.ts";
import { pauseMs } from "./retry.ts";

/** How a connection ended. After a good one, the pauses start again from the shortest. */
export type ConnectionEnd = "good" | "failed" | "refused";

export interface Redial {
  baseDelayMs: number;
  maxDelayMs: number;
  signal: AbortSignal;
  /** Gives up after this time without a good connection. Without it, never gives up. */
  maxLostMs?: number;
  /** A pause may be as long as this, so that many agents do not connect at the same time. */
  spreadMs?: () => number;
  onPause?: (pauseMs: number) => void;
}

/** Connects again whenever the connection ends, until it is refused or lost for too long or `signal` is aborted. */
export async function stayConnected(
  connect: () => Promise<ConnectionEnd>,
  { signal, maxLostMs = Infinity, spreadMs = () => 0, onPause, ...delays }: Redial,
): Promise<"refused" | "lost" | "stopped"> {
  let lostAt = Date.now();
  for (let failures = 1; !signal.aborted; failures++) {
    const end = await connect();
    if (signal.aborted) break;
    if (end === "refused") return "refused";
    if (end === "good") {
      failures = 1;
      lostAt = Date.now();
    }
    const pause = Math.round(Math.max(pauseMs(failures, delays), Math.random() * spreadMs()));
    if (Date.now() + pause - lostAt > maxLostMs) return "lost";
    onPause?.(pause);
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
  return "stopped";
}

interface SocketUser {
  onOpen?: () => void;
  onText: (text: string) => void;
}

/**
 * Settles when the socket is closed. "refused" means that the Worker does not know, or no longer knows, what the socket
 * is for.
 */
export async function untilClosed(socket: WebSocket, { onOpen, onText }: SocketUser) {
  let end: ConnectionEnd = "failed";
  let reason: string | undefined;
  socket.on("open", () => {
    end = "good";
    onOpen?.();
  });
  socket.on("message", (data, isBinary) => isBinary || onText(String(data)));
  socket.on("unexpected-response", (request, { statusCode }) => {
    if (statusCode === 404 || statusCode === 410) end = "refused";
    reason = `HTTP ${statusCode}`;
    request.destroy();
    socket.terminate();
  });
  socket.on("error", (error) => (reason ??= sentenceOf(error))); // "close" follows
  const code = await new Promise<number>((resolve) => socket.once("close", resolve));
  return { end, reason: reason ?? `closed with ${code}` };
}

/** Undefined if a newer Worker sent something that this agent does not know. */
export function parseMessage<T>(schema: { parse: (value: unknown) => T }, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * A dead connection is noticed after two of these intervals. The Worker's runtime answers pings without waking an
 * object.
 */
const pingEveryMs = 10_000;

/** Closes a socket whose other side sends neither pongs nor data. TCP alone would notice only after many minutes. */
export function watch(socket: WebSocket): void {
  let heard = true;
  const hear = () => {
    heard = true;
  };
  const timer = setInterval(() => {
    if (!heard) return socket.terminate();
    heard = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, pingEveryMs);
  socket.on("pong", hear).on("message", hear).on("open", hear);
  socket.on("close", () => clearInterval(timer));
}
