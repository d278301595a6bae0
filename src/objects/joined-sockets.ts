import { isSendableCode } from "#lib/contract/index";

interface Joint {
  /** The maximum number of bytes in one direction, because whatever a slow reader has not read is in memory. */
  maxBytes: number;
  /** Closes both sockets when it is aborted. */
  signal: AbortSignal;
}

/** Passes messages between two sockets until one is closed. Nothing is stored, so they end with their object. */
export async function joinSockets(one: WebSocket, other: WebSocket, { maxBytes, signal }: Joint): Promise<void> {
  const ended = Promise.withResolvers<{ code: number; reason: string }>();
  const end = (code: number, reason: string) => ended.resolve(closingLike(code, reason));
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    let bytes = 0;
    from.binaryType = "arraybuffer";
    from.accept();
    from.addEventListener("message", ({ data }: { data: string | ArrayBuffer }) => {
      bytes += typeof data === "string" ? data.length : data.byteLength;
      if (bytes > maxBytes) end(1009, `At most ${maxBytes} bytes.`);
      else to.send(data);
    });
    from.addEventListener("close", ({ code, reason }) => end(code, reason));
    from.addEventListener("error", () => end(gone.code, gone.reason));
  }
  signal.addEventListener("abort", () => end(gone.code, "This testdrive has ended."));
  const { code, reason } = await ended.promise;
  for (const socket of [one, other]) socket.close(code, reason);
}

/** The code that means a close without a code. It must not be sent (RFC 6455 §7.4.1). */
const noCode = 1005;

/** How to close a socket after its peer: with the same code, if that may be sent. */
export function closingLike(code: number, reason: string): { code: number; reason: string } {
  if (isSendableCode(code)) return { code, reason };
  return code === noCode ? { code: 1000, reason } : gone;
}

export const gone = { code: 1001, reason: "The other side has disconnected." };
