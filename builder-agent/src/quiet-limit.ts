/** Aborts a transfer if no bytes arrive for too long. */
export function quietLimit(signal: AbortSignal, maxQuietMs = 30_000) {
  const quiet = new AbortController();
  const abort = () => quiet.abort(new DOMException(`nothing came for ${maxQuietMs / 1000} seconds`, "TimeoutError"));
  let timer = setTimeout(abort, maxQuietMs);
  return {
    signal: AbortSignal.any([signal, quiet.signal]),
    heard() {
      clearTimeout(timer);
      timer = setTimeout(abort, maxQuietMs);
    },
    end: () => clearTimeout(timer),
  };
}
export type QuietLimit = ReturnType<typeof quietLimit>;
