/** How many milliseconds a test waits for a parallel event, which takes longer on a busy machine. */
export const patienceMs = 600_000;
