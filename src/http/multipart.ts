import { Buffer } from "node:buffer";

/** A part of a form: a field or a file. Its body must be read before the next part is taken. */
export interface Part {
  name: string | undefined;
  /** As sent by the client. Do not trust it as a path. */
  fileName: string | undefined;
  body: ReadableStream<Uint8Array>;
}

/** The body does not match its Content-Type, or is truncated. */
export class MultipartFault extends Error {
  override readonly name = "MultipartFault";
}

const maxHeadBytes = 8192; // all headers of a part, or everything before the first part
const maxParts = 100;
const lineBreak = Buffer.from("\r\n");
const emptyLine = Buffer.from("\r\n\r\n");

/** The boundary of a multipart/form-data body. Undefined for other types. */
export function boundaryOf(contentType: string | null): string | undefined {
  if (!/^\s*multipart\/form-data\b/i.test(contentType ?? "")) return undefined;
  const boundary = parametersOf(contentType ?? "").get("boundary");
  if (boundary === undefined || !/^[^\r\n]{1,70}$/.test(boundary)) {
    throw new MultipartFault("the Content-Type has no boundary");
  }
  return boundary;
}

/**
 * The parts of a form (RFC 7578), while they arrive. Memory holds at most one network chunk, a boundary and the headers
 * of one part. If a body ends before its closing boundary, both this generator and the reader of the current part throw
 * a fault.
 */
export async function* partsOf(source: ReadableStream<Uint8Array>, boundary: string): AsyncGenerator<Part> {
  const form = new Form(source, boundary);
  try {
    await form.skipPreamble();
    for (let count = 1; !(await form.isOver()); count++) {
      if (count > maxParts) throw new MultipartFault(`more than ${maxParts} parts`);
      const disposition = parametersOf((await form.headers()).get("content-disposition") ?? "");
      const body = form.beginBody();
      yield { name: disposition.get("name"), fileName: fileNameIn(disposition), body: streamOf(body) };
      while (await body()) {
        // Skips the rest, which the caller did not read.
      }
    }
  } finally {
    await form.close();
  }
}

/** Returns the next chunk of a part, or undefined at its end. */
type Body = () => Promise<Uint8Array | undefined>;

/** The bytes of a form and the position in them. */
class Form {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #delimiter: Buffer;
  // A boundary begins with a line break, but the first boundary may be the first line of the body.
  #held: Buffer = lineBreak;

  constructor(source: ReadableStream<Uint8Array>, boundary: string) {
    this.#reader = source.getReader();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  async skipPreamble(): Promise<void> {
    this.#take((await this.#find(this.#delimiter, "no boundary")) + this.#delimiter.length);
  }

  /** Whether the boundary before the position is the closing one. Bytes after that are ignored. */
  async isOver(): Promise<boolean> {
    await this.#need(2);
    if (this.#held.toString("latin1", 0, 2) === "--") return true;
    const padding = this.#take(await this.#find(lineBreak, "no end of a boundary"));
    if (/[^ \t]/.test(padding.toString("latin1"))) throw new MultipartFault("unexpected text after a boundary");
    return false;
  }

  async headers(): Promise<Map<string, string>> {
    // The line break of the boundary has not been taken, so that even a part without headers has its empty line.
    const head = this.#take(await this.#find(emptyLine, "no end of the headers"));
    this.#take(emptyLine.length);
    const unfolded = head.toString("utf8").replace(/\r\n[ \t]+/g, " "); // Python's email library folds long lines
    return new Map(unfolded.split("\r\n").map(header));
  }

  beginBody(): Body {
    let isOver = false;
    return async () => {
      if (isOver) return undefined;
      const chunk = await this.#bodyChunk();
      isOver = chunk === undefined;
      return chunk;
    };
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {}); // a read has already thrown its error
  }

  async #bodyChunk(): Promise<Uint8Array | undefined> {
    for (;;) {
      const end = this.#held.indexOf(this.#delimiter);
      if (end > 0) return this.#take(end);
      if (end === 0) {
        this.#take(this.#delimiter.length);
        return undefined;
      }
      const safe = this.#held.length - this.#delimiter.length + 1; // the rest may be the beginning of a boundary
      if (safe > 0) return this.#take(safe);
      await this.#more();
    }
  }

  /** Waits until the bytes have arrived, and returns their position. */
  async #find(bytes: Buffer, complaint: string): Promise<number> {
    for (;;) {
      const at = this.#held.indexOf(bytes);
      if (at > maxHeadBytes || (at < 0 && this.#held.length > maxHeadBytes + bytes.length)) {
        throw new MultipartFault(`${complaint} within ${maxHeadBytes} bytes`);
      }
      if (at >= 0) return at;
      await this.#more();
    }
  }

  async #need(bytes: number): Promise<void> {
    while (this.#held.length < bytes) await this.#more();
  }

  #take(bytes: number): Buffer {
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#reader.read();
    if (done) throw new MultipartFault("it ends before its closing boundary");
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
  }
}

/** A stream that gets its next chunk only when it is read. If it is cancelled, the parser skips the rest. */
function streamOf(body: Body): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await body();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function header(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
}

/** `; name="file"; filename=a.rpm`. A backslash escapes only quotes and itself: old browsers send `C:\a.rpm`. */
function parametersOf(value: string): Map<string, string> {
  const found = value.matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g);
  return new Map(
    [...found].map(([, name = "", quoted, plain = ""]) => [
      name.toLowerCase(),
      quoted?.replace(/\\(["\\])/g, "$1") ?? plain,
    ]),
  );
}

/** Python clients of the time send names that are not ASCII only as `filename*=utf-8''b%C3%BCro.conf` (RFC 5987). */
function fileNameIn(disposition: Map<string, string>): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(disposition.get("filename*") ?? "")?.[1];
  return disposition.get("filename") ?? (encoded === undefined ? undefined : decoded(encoded));
}

function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined; // not UTF-8
  }
}
