import { RepodataFault } from "#repodata/fault";
import { peek, readAtMost } from "#repodata/streams";
import { boundaryOf, MultipartFault, partsOf } from "./multipart.ts";

/** Stores a file while it arrives. */
export interface UploadSink<T> {
  store: (file: { body: ReadableStream<Uint8Array>; fileName: string | undefined }) => Promise<T>;
  /** Called if the form turns out to be damaged after the file. */
  discard: (stored: T) => Promise<void>;
}

/** The content of an upload. */
export interface Received<T> {
  /** The text fields of the form, before and after the file. */
  fields: ReadonlyMap<string, string>;
  /** The sink's result for the file; undefined: the upload had no file. */
  stored: T | undefined;
}

const maxFieldBytes = 4096;
const chunkBytes = 128 * 1024;

/** Reads a form with the file in the field `file`, or a body that is the file itself, as one client sends it (wire.md §5.2). */
export async function receiveUpload<T>(request: Request, sink: UploadSink<T>): Promise<Received<T>> {
  const boundary = boundaryOf(request.headers.get("content-type"));
  if (request.body === null) return { fields: new Map(), stored: undefined };
  const body = inLargeChunks(request.body);
  if (boundary !== undefined) return receiveForm(body, boundary, sink);
  const { start, stream } = await peek(body, 1);
  const stored = start.byteLength === 0 ? undefined : await sink.store({ body: stream, fileName: undefined });
  return { fields: new Map(), stored };
}

/** By default the runtime returns a few kilobytes per read. That would be half a million reads for 2 GiB. */
function inLargeChunks(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader({ mode: "byob" });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.readAtLeast(chunkBytes, new Uint8Array(chunkBytes));
        if (value && value.byteLength > 0) controller.enqueue(value);
        else if (done) controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

async function receiveForm<T>(
  body: ReadableStream<Uint8Array>,
  boundary: string,
  sink: UploadSink<T>,
): Promise<Received<T>> {
  const fields = new Map<string, string>();
  const files: T[] = [];
  try {
    for await (const { name = "", fileName, body: part } of partsOf(body, boundary)) {
      if (name !== "file") fields.set(name, await readField(part, name));
      else if (files.length > 0) throw new MultipartFault("it has more than one file");
      else files.push(await sink.store({ body: part, fileName }));
    }
  } catch (error) {
    for (const stored of files) await sink.discard(stored);
    throw error;
  }
  return { fields, stored: files[0] };
}

async function readField(part: ReadableStream<Uint8Array>, name: string): Promise<string> {
  const bytes = await readAtMost(part, maxFieldBytes, `the field ${JSON.stringify(name.slice(0, 80))}`).catch(
    (error: unknown) => {
      throw error instanceof RepodataFault ? new MultipartFault(error.message) : error;
    },
  );
  return new TextDecoder().decode(bytes);
}
