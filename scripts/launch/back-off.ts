const firstPauseMs = 1_000;

/** The pause after so many failures in a row: 1 s, 2 s, 4 s and so on, `longestMs` at most. */
export const pauseAfter = (failures: number, longestMs: number): number =>
  Math.min(firstPauseMs * 2 ** (failures - 1), longestMs);
