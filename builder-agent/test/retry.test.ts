import { describe, expect, it } from "vitest";
import { isWorthRetry, pauseMs, RemoteRefusal, withRetry } from "../src/retry.ts";

const quick = (signal: AbortSignal, attempts = 3) => ({ attempts, baseDelayMs: 1, maxDelayMs: 2, signal });
const inTrouble = () => Promise.reject(new RemoteRefusal("GET /", 500, ""));
const forever = new AbortController().signal;

describe("what is worth a retry", () => {
  it.each([
    [500, true],
    [503, true],
    [429, true],
    [400, false],
    [401, false],
    [404, false],
    [409, false],
    [410, false],
  ])("of HTTP %i: %s", (status, isWorth) => {
    expect(isWorthRetry(new RemoteRefusal("GET /", status, ""))).toBe(isWorth);
  });

  it("is a network without an answer", async () => {
    const error = await fetch("http://127.0.0.1:1/").catch((lost: unknown) => lost);

    expect(isWorthRetry(error)).toBe(true);
  });

  it("is not a bug of ours", () => {
    expect(isWorthRetry(new TypeError("undefined is not a function"))).toBe(false);
  });
});

describe("withRetry", () => {
  it("tries until it goes well", async () => {
    let tries = 0;
    const work = async () => {
      if (++tries < 3) throw new RemoteRefusal("GET /", 500, "");
      return tries;
    };

    await expect(withRetry(work, quick(forever))).resolves.toBe(3);
  });

  it("gives up after its attempts, with the last reason", async () => {
    let tries = 0;
    const work = () => Promise.reject(new RemoteRefusal("GET /", 500, `number ${++tries}`));

    await expect(withRetry(work, quick(forever))).rejects.toThrow("number 3");
  });

  it("stops waiting when it is told to, with the reason that it is given", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("no room")), 20);

    await expect(
      withRetry(inTrouble, { attempts: 100, baseDelayMs: 10_000, maxDelayMs: 10_000, signal: stop.signal }),
    ).rejects.toThrow("no room");
  });

  it("pauses longer each time up to a limit", () => {
    const limits = { baseDelayMs: 100, maxDelayMs: 1_000 };
    const longest = (attempt: number) => Math.max(...Array.from({ length: 500 }, () => pauseMs(attempt, limits)));

    expect(longest(1)).toBeLessThanOrEqual(100);
    expect(longest(3)).toBeGreaterThan(200);
    expect(longest(1_000)).toBeLessThanOrEqual(1_000);
  });
});
