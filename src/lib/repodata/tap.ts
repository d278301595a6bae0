/** Inspects the bytes of a stream as they pass, and throws if they are invalid. */
export interface Watch {
  take(chunk: Uint8Array): void;
  /** Called after the last chunk. */
  end(): void;
}

/** A stream on its way to storage, and what its watch found in it. */
export interface Tapped<T> {
  /** Passes the bytes on. Fails as soon as the watch throws. */
  stream: ReadableStream<Uint8Array>;
  /** Rejects if the stream fails or is cancelled. The rejection is never unhandled. */
  found: Promise<T>;
}

/** Passes a stream to its reader, and shows its bytes to a watch. */
export function tapped<T>(
  source: ReadableStream<Uint8Array>,
  newWatch: (found: (value: T) => void) => Watch,
): Tapped<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  promise.catch(() => {}); // a caller that reads only the stream gets the stream's error
  const reader = source.getReader();
  const watch = newWatch(resolve);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            watch.end();
            return controller.close();
          }
          watch.take(value);
          controller.enqueue(value);
        } catch (error) {
          reject(error);
          await reader.cancel(error).catch(() => {}); // fails if the source has failed
          throw error;
        }
      },
      async cancel(reason) {
        reject(reason);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, found: promise };
}
