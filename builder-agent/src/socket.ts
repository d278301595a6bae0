import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { Poke } from "./contract.ts";
import { sentenceOf, type Log } from "./log.ts";
import { pauseMs } from "./retry.ts";

export interface SocketOptions {
  dial: () => WebSocket;
  onPoke: (poke: Poke) => void;
  log: Log;
  pingEveryMs?: number;
}

/** Two pings without an answer, and the line is taken for dead. */
const pingEveryMs = 10_000;
const redial = { baseDelayMs: 1_000, maxDelayMs: 30_000 };
/** A connection that lasted this long was a good one: the next trouble starts counting anew. */
const steadyMs = 30_000;

/** Holds the one socket to the Worker as long as `signal` allows, dialling again whenever it is gone. */
export async function keepSocket(options: SocketOptions, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    const openedAt = Date.now();
    const reason = await holdSocket(options, signal);
    if (signal.aborted) return;
    if (Date.now() - openedAt > steadyMs) attempt = 1;
    const inMs = Math.round(pauseMs(attempt, redial));
    options.log("socket lost", { reason, redialInMs: inMs });
    await sleep(inMs, undefined, { signal }).catch(() => {});
  }
}

/** → why it is gone. */
function holdSocket(
  { dial, onPoke, log, pingEveryMs: every = pingEveryMs }: SocketOptions,
  signal: AbortSignal,
): Promise<string> {
  const socket = dial();
  const { promise, resolve } = Promise.withResolvers<string>();
  let unanswered = 0;
  const watchdog = setInterval(() => {
    if (++unanswered > 2) socket.terminate();
    // A text, not a frame of the protocol: the Worker answers it without waking its object, and knows when it did.
    else if (socket.readyState === socket.OPEN) socket.send("ping");
  }, every);
  const close = () => {
    socket.close(1000);
    // A Worker that is gone does not answer the goodbye, and we are in a hurry.
    setTimeout(() => socket.terminate(), 500).unref();
  };
  signal.addEventListener("abort", close);

  socket.on("open", () => {
    log("socket open");
    // Something may have come while there was no socket.
    onPoke({ type: "poke" });
  });
  socket.on("message", (data) => {
    unanswered = 0;
    if (data.toString() === "pong") return;
    const poke = readPoke(data.toString());
    if (poke === undefined) log("unknown message on the socket");
    else onPoke(poke);
  });
  socket.on("error", (error) => resolve(sentenceOf(error)));
  socket.on("close", (code) => resolve(`closed with ${code}`));
  return promise.finally(() => {
    clearInterval(watchdog);
    signal.removeEventListener("abort", close);
    socket.terminate();
  });
}

function readPoke(text: string): Poke | undefined {
  try {
    return Poke.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
