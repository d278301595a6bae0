import { atMost } from "./limits.ts";

/**
 * A stream that takes the next chunk from a generator only when it is read. If the reader cancels, `abandon` releases
 * the generator's source: a generator that never started does not run its `finally`.
 */
export function streamOf(chunks: AsyncGenerator<Uint8Array>, abandon: () => Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return(undefined);
        await abandon();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The first bytes of a stream (fewer if it is shorter), and a stream of all its bytes. */
export async function peek(
  source: ReadableStream<Uint8Array>,
  bytes: number,
): Promise<{ start: Uint8Array<ArrayBuffer>; stream: ReadableStream<Uint8Array> }> {
  const reader = source.getReader();
  const chunks: Uint8Array[] = [];
  for (let missing = bytes; missing > 0;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    missing -= value.byteLength;
  }
  const start = concatenate(chunks);
  return { start, stream: streamOf(resumed(start, reader), () => reader.cancel()) };
}

async function* resumed(
  start: Uint8Array,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (start.byteLength > 0) yield start;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/** Reads a whole short document, such as repomd.xml, a signature or a key. */
export async function readAtMost(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  what: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream.pipeThrough(atMost(maxBytes, what))) chunks.push(chunk);
  return concatenate(chunks);
}

export function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((bytes, chunk) => bytes + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** The number of bytes that one read of a body returns. The runtime's default is a few kilobytes. */
export const chunkBytes = 128 * 1024;

/** The result of the work. If the work takes longer, fails with `late()`; the work itself continues. */
export async function inTime<T>(work: Promise<T>, maxMs: number, late: () => Error): Promise<T> {
  const tooLate = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooLate.reject(late()), maxMs);
  work.catch(() => {}); // thrown below, unless it is late
  try {
    return await Promise.race([work, tooLate.promise]);
  } finally {
    clearTimeout(timer);
  }
}
