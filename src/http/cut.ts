import type { ByteRange } from "./range.ts";

/**
 * The bytes of a range. Bytes of the source after it are not read. If the source ends too early, the answer is aborted,
 * because its length has already been sent.
 */
export function cutOut(source: ReadableStream<Uint8Array>, { offset, length }: ByteRange): ReadableStream<Uint8Array> {
  let [toSkip, toGive] = [offset, length];
  const range = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      const given = bytes.subarray(toSkip, toSkip + toGive);
      toSkip -= Math.min(toSkip, bytes.byteLength);
      toGive -= given.byteLength;
      if (given.byteLength > 0) controller.enqueue(given);
      if (toGive === 0) controller.terminate();
    },
  });
  return source.pipeThrough(range).pipeThrough(new FixedLengthStream(length));
}
