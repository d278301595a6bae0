/** Aborted after the reader of the standard output is gone, as in `kiln events --follow | head`. */
export function closedOutput(): AbortSignal {
  const closed = new AbortController();
  process.stdout.once("error", () => closed.abort());
  return closed.signal;
}
