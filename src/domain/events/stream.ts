export const heartbeatEveryMs = 15_000;
/**
 * The longest duration of a stream, so that a replaced key cannot be used to listen forever. Clients reconnect
 * automatically.
 */
export const listensForMs = 60 * 60_000;
/**
 * A client that is this many messages behind is disconnected. It then connects again and requests what it has missed.
 */
const maxUnread = 200;

interface Ending {
  endsAt: number;
  /** Aborting it ends the stream's timer and its socket. */
  over: AbortController;
}

/**
 * Turns the messages that the account's object sends through a socket into a text/event-stream, which ends at `until`
 * at the latest. Heartbeats are generated here, because the object hibernates between events.
 */
export function streamOf(socket: WebSocket, until: number): ReadableStream<Uint8Array> {
  const over = new AbortController();
  over.signal.addEventListener("abort", () => socket.close(1000));
  const endsAt = Math.min(until, Date.now() + listensForMs);
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => passOn(socket, controller, { endsAt, over }),
      cancel: () => over.abort(),
    },
    { highWaterMark: maxUnread },
  );
}

function passOn(
  socket: WebSocket,
  controller: ReadableStreamDefaultController<Uint8Array>,
  { endsAt, over }: Ending,
): void {
  const { signal } = over;
  const encoder = new TextEncoder();
  const end = () => {
    over.abort();
    controller.close();
  };
  const send = (text: string) => {
    if (Date.now() >= endsAt || (controller.desiredSize ?? 0) <= 0) end();
    else controller.enqueue(encoder.encode(text));
  };
  let isAnswered = true;
  // The runtime answers pings without waking the object. Without pings, a socket that is lost without a close would
  // look like an idle one.
  const heartbeat = setInterval(() => {
    if (!isAnswered) return end();
    send(": still here\n\n");
    if (signal.aborted) return;
    isAnswered = false;
    socket.send("ping");
  }, heartbeatEveryMs);
  signal.addEventListener("abort", () => clearInterval(heartbeat));
  socket.addEventListener("message", ({ data }) => (data === "pong" ? (isAnswered = true) : send(String(data))), {
    signal,
  });
  socket.addEventListener("close", end, { signal });
  socket.addEventListener("error", end, { signal });
  socket.accept();
}
