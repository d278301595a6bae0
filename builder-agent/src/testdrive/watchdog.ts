import type { WebSocket } from "ws";

/** A dead connection is noticed after two of these. The Worker's runtime answers pings without waking an object. */
const pingEveryMs = 10_000;

/** Cuts a socket whose other side answers neither by pong nor by data: TCP alone would notice after many minutes. */
export function watch(socket: WebSocket, everyMs = pingEveryMs): void {
  let heard = true;
  const hear = () => {
    heard = true;
  };
  const timer = setInterval(() => {
    if (!heard) return socket.terminate();
    heard = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, everyMs);
  socket.on("pong", hear).on("message", hear).on("open", hear);
  socket.on("close", () => clearInterval(timer));
}
