/** How many milliseconds a test waits for what happens beside it; on a busy machine that takes its time. */
export const patienceMs = 20_000;
