import { type RpmHeader, readRpmHeader } from "./rpm-header.ts";
import { malformed } from "./rpm-section.ts";
import { concatenate } from "./streams.ts";

/** An upload on its way to storage, and its header as soon as that has passed by. */
export interface TappedRpm {
  /** The same bytes; errors as soon as they show that this is no RPM, or at the end when it is not a whole one. */
  stream: ReadableStream<Uint8Array>;
  /** Rejects when the stream errors or is cancelled, never unhandled. */
  header: Promise<RpmHeader>;
}

/** Reads the header of an RPM that streams by; of the payload nothing is kept. */
export function tapRpmHeader(source: ReadableStream<Uint8Array>): TappedRpm {
  const { promise, resolve, reject } = Promise.withResolvers<RpmHeader>();
  promise.catch(() => {}); // whoever awaits it sees it; who only reads the stream sees the stream's error
  const reader = source.getReader();
  const watch = new Watch(resolve);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            watch.end();
            return controller.close();
          }
          watch.take(value);
          controller.enqueue(value);
        } catch (error) {
          reject(error);
          await reader.cancel(error).catch(() => {}); // the source itself may have failed
          throw error;
        }
      },
      async cancel(reason) {
        reject(reason);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, header: promise };
}

/** Looks at the bytes as they pass and says when they are no RPM. */
class Watch {
  readonly #found: (header: RpmHeader) => void;
  readonly #collected = new Collected();
  #header: RpmHeader | undefined;
  #seenBytes = 0;

  constructor(found: (header: RpmHeader) => void) {
    this.#found = found;
  }

  take(chunk: Uint8Array): void {
    this.#seenBytes += chunk.byteLength;
    if (this.#header) return;
    this.#header = this.#collected.add(chunk);
    if (this.#header) this.#found(this.#header);
  }

  end(): void {
    if (!this.#header) throw malformed("it ends within its header");
    const { fileBytes = this.#seenBytes } = this.#header;
    if (this.#seenBytes !== fileBytes) throw malformed(`it has ${this.#seenBytes} bytes and announces ${fileBytes}`);
  }
}

/** The first bytes of the file, joined only when there are enough to say something new. */
class Collected {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #needBytes = 4;

  add(chunk: Uint8Array): RpmHeader | undefined {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes < this.#needBytes) return undefined;
    const start = concatenate(this.#chunks);
    this.#chunks = [start];
    const reading = readRpmHeader(start);
    if ("needBytes" in reading) {
      this.#needBytes = reading.needBytes;
      return undefined;
    }
    this.#chunks = [];
    return reading.header;
  }
}
