/** The first bytes of a body, and a request with the whole body. */
export interface BodyStart {
  start: Uint8Array<ArrayBuffer>;
  /** Whether `start` is the whole body. */
  isWhole: boolean;
  request: Request;
}

/** Reads the first `bytes` of the body, or less if it is shorter. */
export async function startOfBody(request: Request, bytes: number): Promise<BodyStart> {
  if (request.body === null) return { start: new Uint8Array(0), isWhole: true, request };
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let [size, isWhole] = [0, false];
  while (size <= bytes && !isWhole) {
    const { done, value } = await reader.read();
    if (value) chunks.push(value);
    size += value?.byteLength ?? 0;
    isWhole = done;
  }
  reader.releaseLock();
  const read = new Uint8Array(await new Blob(chunks).arrayBuffer());
  const body = isWhole ? read : joined(read, request.body);
  return { start: read.subarray(0, bytes), isWhole, request: requestWith(request, body) };
}

const requestWith = ({ url, method, headers }: Request, body: BodyInit) => new Request(url, { method, headers, body });

/** A byte stream, so that its reader can request large chunks. */
function joined(read: Uint8Array, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  writer
    .write(read)
    .then(() => {
      writer.releaseLock();
      return rest.pipeTo(writable);
    })
    .catch(() => {}); // the reader gets the same error
  return readable;
}
