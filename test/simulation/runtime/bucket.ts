import { createHash } from "node:crypto";
import { cross } from "./actors.ts";

interface Stored {
  bytes: Uint8Array<ArrayBuffer>;
  httpMetadata?: object;
  uploaded: Date;
}

interface PutOptions {
  httpMetadata?: object;
  sha256?: string;
  onlyIf?: { etagMatches?: string; etagDoesNotMatch?: string };
}

interface Listing {
  prefix?: string;
  limit?: number;
  startAfter?: string;
  cursor?: string;
}

type Body = string | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array>;

/** R2 in memory, like the Worker's binding. */
export class SimulatedBucket {
  readonly stored = new Map<string, Stored>();
  /** Multipart uploads that are neither complete nor aborted. */
  readonly begun = new Map<string, { key: string; parts: Map<number, Uint8Array<ArrayBuffer>> }>();
  #uploads = 0;

  reset(): void {
    this.stored.clear();
    this.begun.clear();
    this.#uploads = 0;
  }

  async put(key: string, body: Body, { onlyIf = {}, ...options }: PutOptions = {}) {
    const bytes = await bytesOf(body);
    return await cross(`R2: put ${key}`, () => {
      if (options.sha256 !== undefined && options.sha256 !== createHash("sha256").update(bytes).digest("hex"))
        throw new Error("put: the SHA-256 checksum does not match (10037)");
      const etag = this.#headOf(key)?.etag;
      if (onlyIf.etagMatches !== undefined && onlyIf.etagMatches !== etag) return null;
      if (onlyIf.etagDoesNotMatch === "*" && etag !== undefined) return null;
      this.stored.set(key, { bytes, uploaded: new Date(), ...options });
      return this.#headOf(key);
    });
  }

  get(key: string, options: { range?: { offset?: number; length?: number } } = {}) {
    return cross(`R2: get ${key}`, () => {
      const head = this.#headOf(key);
      const bytes = this.stored.get(key)?.bytes;
      if (!head || !bytes) return null;
      const { offset = 0, length = bytes.byteLength } = options.range ?? {};
      const part = bytes.slice(offset, offset + length);
      const text = async () => new TextDecoder().decode(part);
      const body = new Response(part).body;
      return { ...head, body, text, json: async () => JSON.parse(await text()), bytes: async () => part };
    });
  }

  head(key: string) {
    return cross(`R2: head ${key}`, () => this.#headOf(key));
  }

  delete(keys: string | string[]) {
    return cross(`R2: delete ${[keys].flat()[0]}`, () => {
      for (const key of [keys].flat()) this.stored.delete(key);
    });
  }

  list({ prefix = "", limit = 1000, startAfter = "", cursor = startAfter }: Listing = {}) {
    return cross(`R2: list ${prefix}`, () => {
      const keys = [...this.stored.keys()].filter((key) => key.startsWith(prefix) && key > cursor).toSorted();
      const page = keys.slice(0, limit);
      const more = keys.length > limit ? { truncated: true, cursor: page.at(-1) } : { truncated: false };
      return { objects: page.map((key) => this.#headOf(key)), ...more };
    });
  }

  createMultipartUpload(key: string) {
    return cross(`R2: begin ${key}`, () => {
      const uploadId = `upload-${(this.#uploads += 1)}`;
      this.begun.set(uploadId, { key, parts: new Map() });
      return this.resumeMultipartUpload(key, uploadId);
    });
  }

  resumeMultipartUpload(key: string, uploadId: string) {
    const open = () => {
      const upload = this.begun.get(uploadId);
      if (upload?.key !== key) throw new Error("The specified multipart upload does not exist. (10024)");
      return upload;
    };
    return {
      key,
      uploadId,
      uploadPart: async (partNumber: number, body: Body) => {
        const bytes = await bytesOf(body);
        return await cross(`R2: part of ${key}`, () => {
          open().parts.set(partNumber, bytes);
          return { partNumber, etag: createHash("md5").update(bytes).digest("hex") };
        });
      },
      complete: (parts: readonly { partNumber: number }[]) =>
        cross(`R2: complete ${key}`, () => {
          const { parts: known } = open();
          const pieces = parts.map(({ partNumber }) => known.get(partNumber));
          if (pieces.some((piece) => piece === undefined)) throw new Error("a part is missing (10025)");
          this.stored.set(key, { bytes: joined(pieces.filter((piece) => piece !== undefined)), uploaded: new Date() });
          this.begun.delete(uploadId);
          return this.#headOf(key);
        }),
      abort: () =>
        cross(`R2: abort ${key}`, () => {
          open();
          this.begun.delete(uploadId);
        }),
    };
  }

  #headOf(key: string) {
    const found = this.stored.get(key);
    if (!found) return null;
    const { bytes, ...more } = found;
    return { key, size: bytes.byteLength, etag: createHash("md5").update(bytes).digest("hex"), ...more };
  }
}

async function bytesOf(body: Body): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof body === "string") return Uint8Array.from(new TextEncoder().encode(body));
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of body) pieces.push(Uint8Array.from(piece));
  return joined(pieces);
}

const joined = (pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.concat(pieces));
