import { openAsBlob } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AnswerOf, Client, RequestOf } from "../client/client.ts";
import { isBusy, ServiceRefusal } from "../client/failure.ts";
import { Complaint } from "../complaint.ts";

type Upload = AnswerOf<"getUpload">["upload"];
type ProgressReporter = (arrived: number, whole: number) => void;

/**
 * A file up to this size is sent in one request. A larger one is sent in pieces, and continues after an interruption.
 */
const oneRequestBytes = 8 * 1024 ** 2;
const pieceBytes = 16 * 1024 ** 2;
const pausesMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

/** The size of a file to be uploaded. */
export async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile()) return found.size;
  throw new Complaint(
    "misused",
    `${file} is not a file.`,
    "Name a file on this machine; a folder must be packed first.",
  );
}

export const fitsOneRequest = (size: number): boolean => size <= oneRequestBytes;

export const fileOf = async (path: string): Promise<File> => new File([await openAsBlob(path)], basename(path));

/** Sends a file in pieces. Returns the completed upload. */
export async function uploadInPieces(
  client: Client,
  path: string,
  purpose: RequestOf<"beginUpload">,
  report: ProgressReporter,
): Promise<Upload> {
  const size = await sizeOf(path);
  const headers = { "upload-length": String(size), "tus-resumable": "1.0.0" };
  const begun = await client.call("beginUpload", { filename: basename(path), ...purpose }, { headers });
  const { id } = begun.upload;
  await using file = await open(path);
  for (let offset = 0, failures = 0; offset < size; report(offset, size)) {
    const before = offset;
    offset = await sendPiece(client, id, { file, offset });
    failures = offset > before ? 0 : failures + 1;
    const pause = failures === 0 ? 0 : pausesMs[failures - 1];
    if (pause === undefined) throw new Complaint("unreachable", "The upload makes no progress.", "Try again later.");
    if (pause > 0) await sleep(pause);
  }
  return (await client.call("getUpload", { upload_id: id })).upload;
}

interface Piece {
  file: FileHandle;
  offset: number;
}

/** Returns where the next piece begins. After an interruption, the service reports how much has arrived. */
async function sendPiece(client: Client, id: number, { file, offset }: Piece): Promise<number> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(pieceBytes), 0, pieceBytes, offset);
  const headers = { "upload-offset": String(offset), "tus-resumable": "1.0.0" };
  try {
    await client.call("sendBytes", { upload_id: id, body: buffer.subarray(0, bytesRead) }, { headers });
    return offset + bytesRead;
  } catch (error) {
    if (!mayGoOn(error)) throw error;
    return await client.call("getUpload", { upload_id: id }).then(
      ({ upload }) => upload.offset,
      () => offset,
    );
  }
}

/** Whether the upload can continue: after an interruption, another request in progress, or a wrong offset. */
const mayGoOn = (error: unknown): boolean =>
  error instanceof ServiceRefusal
    ? error.status === 409 || error.status === 423 || isBusy(error)
    : error instanceof Complaint && error.exit === "unreachable";
