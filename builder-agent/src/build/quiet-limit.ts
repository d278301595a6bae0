const maxQuietMs = 30_000;

/** Ends a transfer that brings nothing for too long. */
export function quietLimit(signal: AbortSignal) {
  const silent = new AbortController();
  const end = () => silent.abort(new DOMException("nothing came for 30 seconds", "TimeoutError"));
  let timer = setTimeout(end, maxQuietMs);
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    heard() {
      clearTimeout(timer);
      timer = setTimeout(end, maxQuietMs);
    },
    end: () => clearTimeout(timer),
  };
}
export type QuietLimit = ReturnType<typeof quietLimit>;
