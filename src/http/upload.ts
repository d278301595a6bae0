import { RepodataFault } from "#lib/repodata/fault";
import { peek, readAtMost } from "#lib/repodata/streams";
import { boundaryOf, MultipartFault, partsOf } from "./multipart.ts";

/** The Content-Length, or 0 if the client did not send it. */
export const announcedBytes = ({ headers }: Request): number => Number(headers.get("content-length")) || 0;

/** An incoming file. */
export interface IncomingFile {
  body: ReadableStream<Uint8Array>;
  /** The file's name on the client. */
  fileName: string | undefined;
  /** The approximate length. Absent or 0 if it is unknown. */
  expectedBytes?: number;
}

/** Stores an incoming file. */
export interface UploadSink<T> {
  store: (file: IncomingFile) => Promise<T>;
  /** Called if the form turns out to be damaged after the file. */
  discard: (stored: T) => Promise<void>;
}

/** The content of an upload. */
export interface Received<T> {
  /** The text fields of the form, before and after the file. */
  fields: ReadonlyMap<string, string>;
  /** The sink's result for the file. Undefined if the upload had no file. */
  stored: T | undefined;
}

const maxFieldBytes = 4096;

/**
 * Reads a form with the file in the field `file`, or a body that is the file itself, as one client sends it
 * (compatibility.md, "Bodies").
 */
export async function receiveUpload<T>(request: Request, sink: UploadSink<T>): Promise<Received<T>> {
  const boundary = boundaryOf(request.headers.get("content-type"));
  if (request.body === null) return { fields: new Map(), stored: undefined };
  const expectedBytes = announcedBytes(request);
  const one: UploadSink<T> = { ...sink, store: (file) => sink.store({ ...file, expectedBytes }) };
  if (boundary !== undefined) {
    const { fields, files } = await receiveForm(request.body, { boundary, maxFiles: 1 }, one);
    return { fields, stored: files[0] };
  }
  const { start, stream } = await peek(request.body, 1);
  const stored = start.byteLength === 0 ? undefined : await one.store({ body: stream, fileName: undefined });
  return { fields: new Map(), stored };
}

/** The content of a form with any number of files. */
export interface ReceivedForm<T> {
  fields: ReadonlyMap<string, string>;
  files: readonly T[];
}

/** Reads a form with many files, each in a field `file`. */
export async function receiveFiles<T>(
  request: Request,
  { maxFiles }: { maxFiles: number },
  sink: UploadSink<T>,
): Promise<ReceivedForm<T>> {
  const boundary = boundaryOf(request.headers.get("content-type"));
  if (request.body === null || boundary === undefined) return { fields: new Map(), files: [] };
  return await receiveForm(request.body, { boundary, maxFiles }, sink);
}

async function receiveForm<T>(
  body: ReadableStream<Uint8Array>,
  { boundary, maxFiles }: { boundary: string; maxFiles: number },
  sink: UploadSink<T>,
): Promise<ReceivedForm<T>> {
  const fields = new Map<string, string>();
  const files: T[] = [];
  try {
    for await (const { name = "", fileName, body: part } of partsOf(body, boundary)) {
      if (name !== "file") {
        const value = await readField(part, name);
        // The first value counts, as in every other call, and an empty one is absent.
        if (value !== "" && !fields.has(name)) fields.set(name, value);
      } else if (files.length >= maxFiles) {
        throw new MultipartFault(`it has more than ${maxFiles === 1 ? "one file" : `${maxFiles} files`}`);
      } else files.push(await sink.store({ body: part, fileName }));
    }
  } catch (error) {
    for (const stored of files) await sink.discard(stored);
    throw error;
  }
  return { fields, files };
}

async function readField(part: ReadableStream<Uint8Array>, name: string): Promise<string> {
  const bytes = await readAtMost(part, maxFieldBytes, `the field ${JSON.stringify(name.slice(0, 80))}`).catch(
    (error: unknown) => {
      throw error instanceof RepodataFault ? new MultipartFault(error.message) : error;
    },
  );
  return new TextDecoder().decode(bytes);
}
