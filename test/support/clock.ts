import { vi } from "vitest";

/**
 * Stops the clock until `vi.useRealTimers`, for tests that advance the time themselves, or that count within a period of the
 * clock, such as ten minutes, which might end during the test.
 */
export const stopClock = (): void => void vi.useFakeTimers({ toFake: ["Date"] });
