import { type RpmHeader, readRpmHeader } from "./rpm-header.ts";
import { malformed } from "./rpm-section.ts";
import { concatenate } from "./streams.ts";
import { tapped, type Watch } from "./tap.ts";

/** An upload on its way to storage, and its header as soon as it has arrived. */
export interface TappedRpm {
  /** Passes the bytes on. Fails as soon as they are not an RPM's, or at the end if the RPM is incomplete. */
  stream: ReadableStream<Uint8Array>;
  header: Promise<RpmHeader>;
}

/** Reads the header of an RPM while it streams. Keeps nothing of the payload. */
export function tapRpmHeader(source: ReadableStream<Uint8Array>): TappedRpm {
  const { stream, found } = tapped<RpmHeader>(source, (found) => new RpmWatch(found));
  return { stream, header: found };
}

/** Checks the bytes while they pass, and throws if they are not an RPM. */
class RpmWatch implements Watch {
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
    if (!this.#header) throw malformed("it ends inside its header");
    const { fileBytes = this.#seenBytes } = this.#header;
    if (this.#seenBytes !== fileBytes)
      throw malformed(`it has ${this.#seenBytes} bytes, but its header says ${fileBytes}`);
  }
}

/** The first bytes of the file. Joins the chunks only when there are enough to read more of the header. */
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
