import { setTimeout as sleep } from "node:timers/promises";
import type { RawData, WebSocket } from "ws";
import { ModifiedOrder } from "../contract.ts";
import { pauseMs } from "../retry.ts";
import { watch } from "../testdrive/watchdog.ts";

export interface LineOptions {
  /** A socket that still connects. */
  dial: () => WebSocket;
  onOrder: (order: ModifiedOrder) => void;
  signal: AbortSignal;
}

const redialling = { baseDelayMs: 500, maxDelayMs: 15_000 };

/** Holds the line to the session's object until `signal`, or until the Worker knows no such session any more. */
export async function holdLine(options: LineOptions): Promise<void> {
  const { signal } = options;
  for (let failures = 1; !signal.aborted; failures++) {
    const end = await hold(options);
    if (end === "refused") return;
    if (end === "was_open") failures = 1;
    await sleep(pauseMs(failures, redialling), undefined, { signal }).catch(() => {});
  }
}

async function hold({ dial, onOrder, signal }: LineOptions): Promise<"refused" | "was_open" | "failed"> {
  let end: "refused" | "was_open" | "failed" = "failed";
  const socket = dial();
  watch(socket);
  const close = () => socket.terminate();
  signal.addEventListener("abort", close);
  socket.on("open", () => (end = "was_open"));
  socket.on("message", (data, isBinary) => {
    const order = isBinary ? undefined : orderIn(data);
    if (order) onOrder(order);
  });
  socket.on("unexpected-response", (request, response) => {
    if (response.statusCode === 404 || response.statusCode === 410) end = "refused";
    request.destroy();
    socket.terminate();
  });
  socket.on("error", () => {}); // "close" follows
  await new Promise((resolve) => socket.once("close", resolve));
  signal.removeEventListener("abort", close);
  return end;
}

function orderIn(data: RawData): ModifiedOrder | undefined {
  try {
    return ModifiedOrder.parse(JSON.parse(String(data)));
  } catch {
    return undefined; // A newer Worker's word for something that this agent cannot do.
  }
}
