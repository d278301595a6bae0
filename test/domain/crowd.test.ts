import { afterEach, expect, it, vi } from "vitest";
import { Crowd } from "#domain/operation/crowd";
import { Refusal } from "#domain/refusal";
import { patienceMs } from "../support/patience.ts";

const atOnce = 8;

afterEach(() => vi.useRealTimers());

/** Requests that the test answers explicitly. */
function crowded() {
  const crowd = new Crowd();
  const ends: (() => void)[] = [];
  const seen = { begun: 0, refused: 0 };
  const ask = (key: string, times: number) => {
    for (let n = 0; n < times; n++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const answer = () => {
        seen.begun += 1;
        ends.push(resolve);
        return promise;
      };
      crowd.join(key, answer).catch(() => (seen.refused += 1));
    }
  };
  return {
    ask,
    end: (count = Infinity) => ends.splice(0, count).forEach((end) => end()),
    /** The events that came immediately, before the waiting requests were checked. */
    atOnce: async () => {
      await Promise.resolve();
      return { ...seen };
    },
    /** Waiting requests check from time to time. */
    expectLater: (all: typeof seen) => vi.waitFor(() => expect(seen).toEqual(all), patienceMs),
  };
}

it("answers eight requests at the same time, and others when there is room", async () => {
  const crowd = crowded();
  crowd.ask("192.0.2.1", atOnce + 4);
  expect(await crowd.atOnce()).toEqual({ begun: atOnce, refused: 0 });
  crowd.end(3);
  await crowd.expectLater({ begun: atOnce + 3, refused: 0 });
  crowd.end();
  await crowd.expectLater({ begun: atOnce + 4, refused: 0 });
});

it("immediately answers addresses that have less than their share", async () => {
  const crowd = crowded();
  crowd.ask("192.0.2.1", atOnce);
  crowd.ask("192.0.2.2", 20);
  expect(await crowd.atOnce()).toEqual({ begun: atOnce + 4, refused: 0 });
  crowd.ask("192.0.2.3", 20);
  expect(await crowd.atOnce()).toEqual({ begun: atOnce + 4 + 3, refused: 0 });
});

it("lets 200 requests of an address wait, and refuses more", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const crowd = crowded();
  crowd.ask("192.0.2.1", atOnce + 200 + 7);
  await crowd.expectLater({ begun: atOnce, refused: 7 });
  crowd.ask("192.0.2.2", 4);
  expect(await crowd.atOnce()).toEqual({ begun: atOnce + 4, refused: 7 });
});

it("answers 400 requests and lets 400 wait, however many addresses ask", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const crowd = crowded();
  for (let n = 0; n < 1000; n++) crowd.ask(`2001:db8::${n}`, 1);
  await crowd.expectLater({ begun: 400, refused: 200 });
});

it("asks refused clients to come back at different times", async () => {
  vi.useFakeTimers({ toFake: ["performance"] }); // so that no request has waited too long, however slow the machine is
  const crowd = new Crowd();
  const refusals: unknown[] = [];
  const never = new Promise<void>(() => {});
  for (let n = 0; n < atOnce + 200 + 100; n++)
    crowd.join("192.0.2.1", () => never).catch((refusal: unknown) => refusals.push(refusal));
  await vi.waitFor(() => expect(refusals).toHaveLength(100), patienceMs);
  const waits = refusals.map((refusal) => (refusal instanceof Refusal ? refusal.retryAfterSeconds : undefined));
  expect([...new Set(waits)].toSorted()).toEqual([2, 3, 4, 5]);
});

it("refuses a request that has waited for two seconds", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const crowd = crowded();
  crowd.ask("192.0.2.1", atOnce * 8);
  // None of them ends, so eight more begin whenever the previous ones no longer count.
  for (let n = 1; n <= 4; n++) {
    await crowd.expectLater({ begun: atOnce * n, refused: 0 });
    vi.advanceTimersByTime(501);
  }
  await crowd.expectLater({ begun: atOnce * 5, refused: atOnce * 3 });
});

it("does not count uploads that drip, nor requests that the runtime dropped", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const crowd = crowded();
  crowd.ask("192.0.2.1", atOnce);
  vi.advanceTimersByTime(501);
  crowd.ask("192.0.2.1", atOnce);
  expect(await crowd.atOnce()).toEqual({ begun: atOnce * 2, refused: 0 });
});
