import { describe, expect, it } from "vitest";
import { afterAttempt, healthAfter, waitAfter, type Attempted } from "#domain/events/delivery";

const createdAt = 1_000_000;
// The documented values. The code's own constants would repeat any mistake in them.
const firstWaitMs = 10_000;
const longestWaitMs = 4 * 60 * 60_000;
const dayMs = 24 * 60 * 60_000;

/** Fails each attempt until delivery gives up. Returns the times of all attempts. */
function failing(random: number): { moments: number[]; last: Attempted } {
  const moments: number[] = [];
  let last: Attempted = { state: "waiting", attempts: 0, nextAt: createdAt };
  while (last.nextAt !== null) {
    moments.push(last.nextAt);
    last = afterAttempt({ createdAt, attempts: last.attempts }, false, { at: last.nextAt, random });
  }
  return { moments, last };
}

describe("a delivery", () => {
  it("ends with the first success", () => {
    const after = afterAttempt({ createdAt, attempts: 4 }, true, { at: createdAt + 5, random: 0 });
    expect(after).toEqual({ state: "delivered", attempts: 5, nextAt: null });
  });

  it.each([
    { attempts: 1, random: 0.5, waits: firstWaitMs },
    { attempts: 2, random: 0.5, waits: 2 * firstWaitMs },
    { attempts: 6, random: 0.5, waits: 32 * firstWaitMs },
    { attempts: 1, random: 0, waits: 0.75 * firstWaitMs },
    { attempts: 100, random: 0.5, waits: longestWaitMs },
  ])("waits $waits ms after attempt $attempts at random $random", ({ attempts, random, waits }) => {
    expect(waitAfter(attempts, random)).toBe(waits);
  });

  it.each([0, 0.5, 0.999])("is retried for a day and then dropped, at random %d", (random) => {
    const { moments, last } = failing(random);

    expect(last).toEqual({ state: "failed", attempts: moments.length, nextAt: null });
    const tried = (moments.at(-1) ?? 0) - createdAt;
    expect(tried).toBeLessThanOrEqual(dayMs);
    expect(tried).toBeGreaterThan(dayMs - 1.25 * longestWaitMs);
    expect(moments.length).toBeGreaterThan(12);
    expect(moments.length).toBeLessThan(25);
  });
});

describe("a webhook", () => {
  const well = { failingSince: null, disabledReason: null };
  const failed = { succeeded: false, reason: "The receiver answered 500." };

  it("has been failing since its first failure, until a success", () => {
    const failing = healthAfter(well, failed, 7);
    expect(failing).toEqual({ failingSince: new Date(7), disabledReason: null });
    expect(healthAfter(failing, failed, 9)).toEqual(failing);
    expect(healthAfter(failing, { succeeded: true, reason: "" }, 9)).toEqual(well);
  });

  it("is disabled after failing for three days", () => {
    const failing = healthAfter(well, failed, 7);
    expect(healthAfter(failing, failed, 7 + 3 * dayMs - 1)).toEqual(failing);
    expect(healthAfter(failing, failed, 7 + 3 * dayMs).disabledReason).toBe(
      "It has accepted nothing since 1970-01-01T00:00:00.007Z. The receiver answered 500.",
    );
    expect(healthAfter(well, failed, 7 + 3 * dayMs).disabledReason).toBeNull();
  });
});
