const firstPauseMs = 1_000;

/** The pause after a number of consecutive failures: 1 s, 2 s, 4 s and so on, at most `maxMs`. */
export const pauseAfter = (failures: number, maxMs: number): number =>
  Math.min(firstPauseMs * 2 ** (failures - 1), maxMs);
