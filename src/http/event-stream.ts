/** Headers of server-sent events, which proxies must not store or buffer. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // no-transform and the next header stop proxies from buffering events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** The items are read only when the client reads, so a slow client delays only itself. */
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

/** The text of one event. In an event stream, a carriage return alone also ends a line. */
export function eventText(name: string, data: string, id?: number): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}${lines.join("")}\n`;
}

export const endEvent = "event: end\ndata:\n\n";

async function waits(ms: number): Promise<"due"> {
  await scheduler.wait(ms);
  return "due";
}

/** How often a stream checks whether its client may still read. */
const askEveryMs = 15_000;

/**
 * Yields the values of a source until its client may no longer read them. The request itself was allowed, so the first
 * check comes later. The stream also ends on time if the source yields nothing.
 */
export async function* whileAllowed<T>(
  source: AsyncGenerator<T>,
  isAllowed: () => Promise<boolean>,
  everyMs = askEveryMs,
): AsyncGenerator<T> {
  let askedAt = Date.now();
  let due = waits(everyMs);
  let next = source.next();
  try {
    for (;;) {
      const first = await Promise.race([next, due]);
      if (Date.now() - askedAt >= everyMs) {
        if (!(await isAllowed())) return;
        askedAt = Date.now();
      }
      if (first === "due") due = waits(Math.max(1, askedAt + everyMs - Date.now()));
      else if (first.done === true) return;
      else {
        next = source.next();
        yield first.value;
      }
    }
  } finally {
    abandon(source, next);
  }
}

/**
 * Ends a source whose client has disconnected. Not awaited, because the source may be silent for a long time. No one
 * reads the value that it is still waiting for, so its failure is ignored.
 */
export function abandon<T>(source: AsyncGenerator<T>, awaited: Promise<unknown>): void {
  void Promise.allSettled([awaited, source.return(undefined)]);
}
