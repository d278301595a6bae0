import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { WebSocket, type RawData } from "ws";
import { guestAddress, isSendableCode, maxFrameBytes, type GuestRequest } from "../contract.ts";
import type { Endpoint } from "./qemu.ts";
import { watch } from "../redial.ts";

/** If more bytes than this wait for a slow reader, the writer has to wait too. */
const maxWaitingBytes = 1024 * 1024;

interface Handshake {
  request: GuestRequest;
  endpoint: Endpoint;
  /** The limit for the whole handshake. After that, `late` is thrown. */
  limitMs: number;
  late: Error;
}

/** The guest's WebSocket, which is paused, or the answer of a guest that refuses it. */
export async function openGuestSocket({
  request,
  endpoint,
  limitMs,
  late,
}: Handshake): Promise<WebSocket | IncomingMessage> {
  const { "sec-websocket-protocol": offered = "", ...headers } = request.headers;
  const protocols = offered.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  let timer: NodeJS.Timeout | undefined;
  const socket = new WebSocket(`ws://${guestAddress}${request.target}`, protocols, {
    headers,
    createConnection: () => connect(endpoint),
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
  });
  const opened = new Promise<WebSocket | IncomingMessage>((resolve, reject) => {
    socket.on("open", () => resolve(paused(socket)));
    socket.on("unexpected-response", (_, answer) => resolve(answer));
    socket.on("error", reject);
    timer = setTimeout(() => {
      reject(late);
      socket.terminate();
    }, limitMs);
  });
  return await opened.finally(() => clearTimeout(timer));
}

function paused(socket: WebSocket): WebSocket {
  socket.pause();
  return socket;
}

/** Forwards messages in both directions until one side is closed. `worker` need not be connected yet. */
export async function joinGuestSocket(guest: WebSocket, worker: WebSocket, signal: AbortSignal): Promise<void> {
  const abort = () => [guest, worker].map((socket) => socket.terminate());
  signal.addEventListener("abort", abort);
  watch(worker);
  worker.on("open", () => guest.resume());
  forward(guest, worker);
  forward(worker, guest);
  try {
    await Promise.all([guest, worker].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function forward(from: WebSocket, to: WebSocket): void {
  from.on("message", (data: RawData, isBinary: boolean) => {
    to.send(data, { binary: isBinary }, () => from.isPaused && to.bufferedAmount < maxWaitingBytes && from.resume());
    if (to.bufferedAmount >= maxWaitingBytes) from.pause();
  });
  from.on("error", () => {}); // "close" follows
  from.on("close", (code, reason) => (isSendableCode(code) ? to.close(code, reason) : to.close()));
}
