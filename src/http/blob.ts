import { hitsIfNoneMatch } from "./etag.ts";
import { rangeOf, type ByteRange } from "./range.ts";

/** Returns null if the file no longer exists. */
export type ReadRange = (range: ByteRange) => Promise<{ body: ReadableStream } | null>;

/** A file in R2, such as an image or a file of the service's own repositories. */
export interface Blob {
  size: number;
  /** A strong validator, in quotes. */
  etag: string;
  contentType: string;
  /** The name under which a browser saves it. */
  fileName?: string;
  read: ReadRange;
}

/**
 * Answers GET and HEAD with everything that download managers need: single ranges, validators, and always the length.
 */
export async function answerBlob(request: Request, blob: Blob): Promise<Response> {
  const headers = headersOf(blob);
  if (hitsIfNoneMatch(request.headers.get("if-none-match"), blob.etag)) {
    headers.delete("content-length");
    return new Response(null, { status: 304, statusText: "Not Modified", headers });
  }
  const range = rangeOf(ifRangeHolds(request, blob.etag) ? request.headers.get("range") : null, blob.size);
  if (range === "unsatisfiable") return unsatisfiable(blob.size);
  if (range) headers.set("content-range", `bytes ${range.offset}-${range.offset + range.length - 1}/${blob.size}`);
  const wanted = range ?? { offset: 0, length: blob.size };
  headers.set("content-length", String(wanted.length));
  // Old shell clients compare the status line with the literal "HTTP/1.1 200 OK" (compatibility.md, "Downloads").
  const status = range ? { status: 206, statusText: "Partial Content" } : { status: 200, statusText: "OK" };
  const body = request.method === "HEAD" ? null : await bodyOf(blob, wanted);
  return new Response(body, { ...status, headers });
}

async function bodyOf(blob: Blob, range: ByteRange): Promise<ReadableStream | null> {
  if (range.length === 0) return null;
  const found = await blob.read(range);
  if (!found) throw new Error(`a blob of ${blob.size} bytes with etag ${blob.etag} no longer exists`);
  return found.body;
}

const headersOf = ({ etag, contentType, fileName, size }: Blob) =>
  new Headers({
    "accept-ranges": "bytes",
    "content-type": contentType,
    "content-length": String(size),
    // No proxy may compress it, because clients compare lengths and checksums.
    "content-encoding": "identity",
    etag,
    ...(fileName === undefined ? {} : { "content-disposition": dispositionOf(fileName) }),
  });

/**
 * A name with special characters is sent in two forms: a plain one for all clients, and the exact one for clients that
 * support RFC 6266.
 */
function dispositionOf(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\]/gu, "_");
  if (plain === fileName) return `attachment; filename="${plain}"`;
  const exact = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}

const unsatisfiable = (size: number) =>
  new Response(null, {
    status: 416,
    statusText: "Range Not Satisfiable",
    headers: { "content-range": `bytes */${size}`, "content-length": "0" },
  });

/** Evaluates If-Range: the range is valid only for exactly the same file. A date does not prove that it is the same. */
function ifRangeHolds(request: Request, etag: string): boolean {
  const condition = request.headers.get("if-range");
  return condition === null || condition.trim() === etag;
}
