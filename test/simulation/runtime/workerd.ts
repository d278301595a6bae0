/** Globals of the Worker's runtime. */
import { AnswerWithSocket, DigestStream, FixedLengthStream, IdentityTransformStream } from "./streams.ts";
import { SocketEnd, SocketPair } from "./sockets.ts";

Object.assign(globalThis, {
  FixedLengthStream,
  IdentityTransformStream,
  Response: AnswerWithSocket,
  WebSocket: SocketEnd,
  WebSocketPair: SocketPair,
  WebSocketRequestResponsePair: Object,
});
Object.assign(ReadableStreamBYOBReader.prototype, {
  /** In Node, this is an option of `read`. */
  readAtLeast(min: number, view: Uint8Array) {
    const reader = this as unknown as { read(view: Uint8Array, options: { min: number }): Promise<unknown> };
    return reader.read(view, { min });
  },
});
Object.assign(crypto, { DigestStream });
