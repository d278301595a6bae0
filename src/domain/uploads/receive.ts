import { Refusal } from "#domain/refusal";
import { finish, type Writing } from "#domain/uploads/finish";
import { withLease } from "#domain/uploads/lease";
import { Received } from "#domain/uploads/received";
import { noSuchUpload, removeUpload } from "#domain/uploads/upload";
import { chunksOf } from "#storage/chunks";
import { isBlobGone } from "#storage/resumable-blobs";
import type { ResumableUpload } from "#storage/resumable-uploads";

/** The bytes of one request. */
export interface Piece {
  /** The position in the file where these bytes begin. */
  offset: number;
  /** The number of bytes. Undefined if the client did not send it. */
  announcedBytes: number | undefined;
  body: ReadableStream<Uint8Array> | null;
  /** A client that sends less than 128 KiB in this time is cut off. */
  chunkMs: number;
}

/** Adds bytes to an upload, and finishes it after the last ones. If a request is cut off, its bytes are stored, too. */
export async function receive(writing: Writing, upload: ResumableUpload, piece: Piece): Promise<number> {
  if (piece.offset !== upload.offset) throw wrongOffset(upload);
  if (upload.offset + (piece.announcedBytes ?? 0) > upload.length) throw tooLong(upload);
  if (upload.finishedAt) return upload.offset;
  return await withLease(writing.db, upload, (held) => write(writing, held, piece));
}

async function write(writing: Writing, upload: ResumableUpload, { body, chunkMs }: Piece): Promise<number> {
  try {
    using received = await Received.of(writing, upload);
    const cut = body && (await take(upload, received, chunksOf(body, chunkMs)));
    const { bytes } = received;
    if (bytes === upload.length) await finish(writing, upload, received);
    else await received.store();
    if (cut) throw cut;
    return bytes;
  } catch (error) {
    if (error instanceof Refusal || !isBlobGone(error)) throw error;
    await removeUpload(writing, upload);
    throw noSuchUpload();
  }
}

/** Reads all bytes. Returns the refusal if they end early. */
async function take(
  { length }: ResumableUpload,
  received: Received,
  chunks: AsyncGenerator<Uint8Array>,
): Promise<Refusal | undefined> {
  for (;;) {
    const next = await chunks.next().catch(() => undefined);
    if (!next) return received.bytes < length ? cutOff() : undefined;
    if (next.done) return undefined;
    if (received.bytes + next.value.byteLength > length) throw tooLong({ length });
    await received.take(next.value);
  }
}

const wrongOffset = ({ offset }: ResumableUpload) =>
  new Refusal("unknown_error", {
    reason: "wrong_offset",
    message: `This upload continues at byte ${offset}.`,
  });

const tooLong = ({ length }: Pick<ResumableUpload, "length">) =>
  new Refusal("unknown_error", {
    reason: "too_large",
    message: `These bytes exceed the length of this upload, ${length} bytes.`,
  });

/** The same refusal as for a wrong offset. A tus client then requests the right offset and continues. */
const cutOff = () =>
  new Refusal("unknown_error", {
    reason: "wrong_offset",
    message: "The data stopped arriving. Ask how many bytes are stored, and send the rest.",
  });
