import { afterEach, describe, expect, it, vi } from "vitest";
import { FairTurns, type TurnLimits } from "#domain/fair-turns";

const turnsOf = (limits: Partial<TurnLimits> = {}) =>
  new FairTurns({
    atOnce: 1,
    waiting: 100,
    waitingPerKey: 100,
    maxWaitMs: 60_000,
    maxTurnMs: 60_000,
    message: "Too many at the moment.",
    ...limits,
  });

/** Tasks that record the order of their turns. */
function noted(turns: FairTurns) {
  const order: string[] = [];
  const take = (key: string) => turns.take(key, async () => void order.push(key));
  return { order, take };
}

afterEach(() => {
  vi.restoreAllMocks();
});

const never = () => new Promise<never>(() => {});

describe("turns", () => {
  it("go round between keys", async () => {
    const { order, take } = noted(turnsOf());
    await Promise.all(["a", "a", "a", "b", "b", "c"].map(take));
    expect(order).toEqual(["a", "b", "c", "a", "b", "a"]);
  });

  it("do not favour a key that comes again and again", async () => {
    const { order, take } = noted(turnsOf());
    const one = async () => {
      for (let times = 0; times < 6; times++) await take("again");
    };
    await Promise.all([one(), take("many"), take("many"), take("many")]);
    expect(order.lastIndexOf("many")).toBeLessThan(7);
  });

  it("are one at a time for a key, several for all", async () => {
    const turns = turnsOf({ atOnce: 2 });
    const running: string[] = [];
    let most = 0;
    const work = (key: string) =>
      turns.take(key, async () => {
        expect(running).not.toContain(key);
        running.push(key);
        most = Math.max(most, running.length);
        await scheduler.wait(5);
        running.splice(running.indexOf(key), 1);
      });
    await Promise.all(["a", "a", "b", "b", "c"].map(work));
    expect(most).toBe(2);
  });

  it("are refused if too many of a key wait", async () => {
    const { order, take } = noted(turnsOf({ waitingPerKey: 2 }));
    const all = await Promise.allSettled(["a", "a", "a", "a", "b"].map(take));
    expect(all.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(all[3]).toMatchObject({ reason: { reason: "too_fast", retryAfterSeconds: 60 } });
    expect(order).toEqual(["a", "b", "a", "a"]);
  });

  it("of a key that has several give way if too many wait", async () => {
    const { order, take } = noted(turnsOf({ waiting: 2 }));
    const all = await Promise.allSettled(["a", "a", "a", "b", "c"].map(take));
    expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled", "fulfilled"]);
    expect(order).toEqual(["a", "b", "c"]);
  });

  it("are refused to who has waited for too long", async () => {
    const turns = turnsOf({ maxWaitMs: 30 });
    void turns.take("a", never);
    await expect(turns.take("b", never)).rejects.toMatchObject({ reason: "too_fast", retryAfterSeconds: 1 });
  });

  it("end if their request was dropped", async () => {
    const turns = turnsOf({ maxTurnMs: 30 });
    void turns.take("a", never);
    await turns.take("b", async () => {});
  });

  it("keep their order if the event loop was blocked", async () => {
    const real = performance.now.bind(performance);
    let blockedMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => real() + blockedMs);
    const turns = turnsOf();
    const { order, take } = noted(turns);
    const blocking = turns.take("a", async () => void (blockedMs = 5000));
    await Promise.all([blocking, ...["a", "a", "b"].map(take)]);
    expect(order).toEqual(["b", "a", "a"]);
  });

  it("end with an error, and the next begins", async () => {
    const turns = turnsOf();
    const failed = turns.take("a", () => Promise.reject(new Error("it failed")));
    const { order, take } = noted(turns);
    await Promise.all([expect(failed).rejects.toThrow("it failed"), take("a")]);
    expect(order).toEqual(["a"]);
  });
});
