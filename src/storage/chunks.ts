import { chunkBytes, inTime } from "#lib/repodata/streams";

/**
 * The bytes of a stream in large chunks. All chunks use one buffer, so each is valid only until the next is read. With
 * a separate buffer for each chunk, workerd would grow by dozens of megabytes before V8 collects garbage. Fails if a
 * chunk takes longer than `chunkMs`.
 */
export async function* chunksOf(source: ReadableStream<Uint8Array>, chunkMs?: number): AsyncGenerator<Uint8Array> {
  const reader = byteStreamOf(source).getReader({ mode: "byob" });
  try {
    for (let buffer = new ArrayBuffer(chunkBytes); ;) {
      const reading = reader.readAtLeast(chunkBytes, new Uint8Array(buffer));
      const { value, done } = chunkMs === undefined ? await reading : await inTime(reading, chunkMs, tooSlow);
      if (value && value.byteLength > 0) yield value;
      if (done || !value) return;
      buffer = value.buffer;
    }
  } finally {
    await reader.cancel().catch(() => {}); // a failed stream has nothing to cancel
  }
}

/**
 * Wraps a stream that JavaScript created, such as that of a peeked body, because such a stream cannot read into a
 * buffer.
 */
function byteStreamOf(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  try {
    source.getReader({ mode: "byob" }).releaseLock();
    return source;
  } catch {
    return source.pipeThrough(new IdentityTransformStream());
  }
}

const tooSlow = () => new Error("the data arrives too slowly");
