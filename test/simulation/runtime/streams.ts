import { createHash } from "node:crypto";

/** Streams of the Worker's runtime that Node lacks. */
export class FixedLengthStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(length: number) {
    let seen = 0;
    super({
      transform(chunk, controller) {
        seen += chunk.byteLength;
        controller.enqueue(chunk);
      },
      flush() {
        if (seen !== length) throw new TypeError(`the stream had ${seen} bytes, not ${length}`);
      },
    });
  }
}

/** As in workerd, its bytes can be read into a buffer. */
export class IdentityTransformStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;

  constructor() {
    const { promise: cancelled, reject } = Promise.withResolvers<never>();
    cancelled.catch(() => {});
    let end: ReadableByteStreamController | undefined;
    this.readable = new ReadableStream({ type: "bytes", start: (given) => void (end = given), cancel: reject });
    this.writable = new WritableStream<Uint8Array>({
      write: (chunk) => Promise.race([cancelled, end?.enqueue(Uint8Array.from(chunk))]),
      close: () => {
        end?.close();
        end?.byobRequest?.respond(0); // otherwise, a waiting read would not end
      },
      abort: (reason) => end?.error(reason),
    });
  }
}

export class DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>;
  constructor(algorithm: string) {
    const hash = createHash(algorithm.replace("-", ""));
    const { promise, resolve, reject } = Promise.withResolvers<ArrayBuffer>();
    super({
      write: (chunk) => void hash.update(chunk),
      close: () => resolve(Uint8Array.from(hash.digest()).buffer),
      abort: reject,
    });
    this.digest = promise;
  }
}

/** Node's Response refuses the status of an upgrade. */
export class AnswerWithSocket extends Response {
  /** The original body, which can be inspected without reading it. */
  readonly given: BodyInit | null | undefined;

  constructor(body?: BodyInit | null, init: ResponseInit & { webSocket?: unknown } = {}) {
    const isUpgrade = init.status === 101;
    super(body, isUpgrade ? { ...init, status: 200 } : init);
    if (isUpgrade) Object.defineProperties(this, { status: { value: 101 }, webSocket: { value: init.webSocket } });
    this.given = body;
  }
}
