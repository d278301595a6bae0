/** A body for fetch, which reads `source` as fast as the Worker takes it. */
export function webStream(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(Uint8Array.from(value)); // a source may use its buffer again
    },
    cancel: async () => void (await chunks.return?.()),
  });
}
