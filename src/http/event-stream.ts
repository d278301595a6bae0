/** Headers of server-sent events, which proxies must not store or buffer. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // no-transform and the next header stop proxies from buffering events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** The client's reads pull the items, so that a slow client delays only itself. */
export function bodyOf<T>(source: AsyncGenerator<T>, encoded: (one: T) => Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(encoded(value));
    },
    async cancel() {
      await source.return(undefined);
    },
  });
}
