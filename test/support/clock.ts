import { vi } from "vitest";

/**
 * Stops the clock until `vi.useRealTimers`. For tests that advance the time themselves, or that count within a clock
 * period, such as ten minutes, which might end during the test.
 */
export const stopClock = (): void => void vi.useFakeTimers({ toFake: ["Date"] });
