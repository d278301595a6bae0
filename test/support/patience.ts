/** How many milliseconds a test waits for something that happens in parallel, which takes longer on a busy machine. */
export const patienceMs = 600_000;
