/** Globals of the Worker's runtime. */
import { AnswerWithSocket, DigestStream, FixedLengthStream } from "./streams.ts";
import { SocketEnd, SocketPair } from "./sockets.ts";

Object.assign(globalThis, {
  FixedLengthStream,
  IdentityTransformStream: TransformStream,
  Response: AnswerWithSocket,
  WebSocket: SocketEnd,
  WebSocketPair: SocketPair,
  WebSocketRequestResponsePair: Object,
});
Object.assign(crypto, { DigestStream });
