import { describe, expect, it } from "vitest";
import { isWorthRetry, pauseMs, RemoteRefusal, withRetry } from "../src/retry.ts";

const quick = (signal: AbortSignal, attempts = 3) => ({ attempts, baseDelayMs: 1, maxDelayMs: 2, signal });
const inTrouble = () => Promise.reject(new RemoteRefusal("GET /", 500, ""));
const forever = new AbortController().signal;

describe("failures that are retried", () => {
  it.each([
    [500, true],
    [503, true],
    [408, true],
    [429, true],
    [400, false],
    [401, false],
    [404, false],
    [409, false],
    [410, false],
  ])("include HTTP %i: %s", (status, isWorth) => {
    expect(isWorthRetry(new RemoteRefusal("GET /", status, ""))).toBe(isWorth);
  });

  it("include a network without an answer", async () => {
    const error = await fetch("http://127.0.0.1:1/").catch((lost: unknown) => lost);

    expect(isWorthRetry(error)).toBe(true);
  });

  it("do not include our own bugs", () => {
    expect(isWorthRetry(new TypeError("undefined is not a function"))).toBe(false);
  });
});

describe("withRetry", () => {
  it("retries until it succeeds", async () => {
    let tries = 0;
    const work = async () => {
      if (++tries < 3) throw new RemoteRefusal("GET /", 500, "");
      return tries;
    };

    await expect(withRetry(work, quick(forever))).resolves.toBe(3);
  });

  it("fails after its attempts, with the last reason", async () => {
    let tries = 0;
    const work = () => Promise.reject(new RemoteRefusal("GET /", 500, `number ${++tries}`));

    await expect(withRetry(work, quick(forever))).rejects.toThrow("number 3");
  });

  it("stops waiting when it is aborted, with the given reason", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("no room")), 20);

    await expect(
      withRetry(inTrouble, { attempts: 100, baseDelayMs: 10_000, maxDelayMs: 10_000, signal: stop.signal }),
    ).rejects.toThrow("no room");
  });

  it("waits longer each time, up to a limit", () => {
    const limits = { baseDelayMs: 100, maxDelayMs: 1_000 };
    const longest = (attempt: number) => Math.max(...Array.from({ length: 500 }, () => pauseMs(attempt, limits)));

    expect(longest(1)).toBeLessThanOrEqual(100);
    expect(longest(3)).toBeGreaterThan(200);
    expect(longest(1_000)).toBeLessThanOrEqual(1_000);
  });
});
