import { vi } from "vitest";

/**
 * Stops the clock until `vi.useRealTimers`, for tests that pass time themselves, or that count within a period of the
 * clock: a minute, ten minutes or a day might end in between.
 */
export const stopClock = (): void => void vi.useFakeTimers({ toFake: ["Date"] });
