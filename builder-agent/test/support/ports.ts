/**
 * Ports that only this test process uses, with `nth` below 20. Test files run in parallel, and the kernel assigns ports from
 * 32768 on to any program. fetch refuses 10080.
 */
export const ownPort = (nth: number): number => 11_000 + (process.pid % 1_000) * 20 + nth;
