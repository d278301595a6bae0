/**
 * Ports of this test's process alone, `nth` below 20: test files run side by side, and from 32768 on the kernel gives ports to
 * whoever wants any.
 */
export const ownPort = (nth: number): number => 10_000 + (process.pid % 1_000) * 20 + nth;
