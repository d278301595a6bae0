import { inTime } from "#lib/repodata/streams";

/** A limiter of downloads. It decides when each download may read, and is informed of its progress. */
export interface Limits {
  read: <T>(work: () => Promise<T>) => Promise<T>;
  moved: () => void;
  ended: () => void;
}

interface Part {
  key: string;
  offset: number;
  length: number;
}

/** The embedded R2 holds all requested bytes in memory, however slowly the client reads. */
const pieceBytes = 2 ** 19;
/** A download makes progress if the client reads at least this much. */
const stepBytes = 2 ** 16;
/** A download without progress for this long is cut off. */
export const stalledMs = 30_000;

/**
 * Reads a range of a blob in pieces, each after the reader has taken the previous one. Null if the blob does not exist.
 * A reader that stops is cut off: its memory is freed, and its connection closes after the bytes that the system has
 * buffered for it.
 */
export async function streamBlob(
  blobs: Pick<R2Bucket, "get">,
  part: Part,
  limits: Limits,
): Promise<{ body: ReadableStream } | null> {
  const first = await limits.read(() => readPiece(blobs, part, undefined));
  if (!first) return null;
  const { readable, writable } = new FixedLengthStream(part.length);
  void sendAll(blobs, part, { first, writer: writable.getWriter(), limits });
  return { body: readable };
}

interface Piece {
  bytes: Uint8Array;
  etag: string;
}

/** With an etag, reads only that version, because a repository's file may be replaced during a download. */
async function readPiece(
  blobs: Pick<R2Bucket, "get">,
  { key, offset, length }: Part,
  etag: string | undefined,
): Promise<Piece | undefined> {
  const range = { offset, length: Math.min(length, pieceBytes) };
  const found = await blobs.get(key, { range, ...(etag !== undefined && { onlyIf: { etagMatches: etag } }) });
  if (!found || !("body" in found)) return undefined;
  return { bytes: new Uint8Array(await found.arrayBuffer()), etag: found.etag };
}

type Sending = { first: Piece; writer: WritableStreamDefaultWriter<Uint8Array>; limits: Limits };

async function sendAll(blobs: Pick<R2Bucket, "get">, part: Part, sending: Sending): Promise<void> {
  const { writer, limits } = sending;
  try {
    await sendPieces(blobs, part, sending);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {}); // the client has disconnected
  } finally {
    limits.ended();
  }
}

async function sendPieces(
  blobs: Pick<R2Bucket, "get">,
  { key, offset, length }: Part,
  { first, writer, limits }: Sending,
): Promise<void> {
  let piece = first;
  for (let sent = 0; ;) {
    for (let at = 0; at < piece.bytes.byteLength; at += stepBytes) {
      const step = writer.write(piece.bytes.subarray(at, at + stepBytes));
      await inTime(step, stalledMs, () => new Error("the reader has stopped"));
      limits.moved();
    }
    sent += piece.bytes.byteLength;
    if (sent >= length) return;
    const { etag } = piece;
    const left = { key, offset: offset + sent, length: length - sent };
    const next = await limits.read(() => readPiece(blobs, left, etag));
    if (!next) throw new Error(`the blob ${key} was replaced while it was read`);
    piece = next;
  }
}
