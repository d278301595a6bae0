import { describe, expect, it } from "vitest";
import type { Heartbeat } from "../src/contract.ts";
import { startHeartbeat, type StopReason } from "../src/heartbeat.ts";
import { RemoteRefusal } from "../src/retry.ts";
import { eventually, silent } from "./support/agent-place.ts";

const beat: Heartbeat = { phase: "Installing software", percent: 12, message: "busybox" };

/** A heartbeat to a Worker that returns `answer`. */
function start(answer: (nth: number) => boolean | Error, everyMs = 20) {
  const stops: StopReason[] = [];
  const sentAt: number[] = [];
  const loop = startHeartbeat({
    beat: () => beat,
    onStop: (reason) => void stops.push(reason),
    log: silent,
    everyMs,
    send: async () => {
      sentAt.push(Date.now());
      const said = answer(sentAt.length);
      if (said instanceof Error) throw said;
      return { cancel: said };
    },
  });
  return { loop, stops, sentAt, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}

describe("the heartbeat", () => {
  it("beats immediately and then regularly", async () => {
    await using heart = start(() => false);

    await eventually("three beats", () => heart.sentAt.length >= 3);

    expect(heart.stops).toEqual([]);
  });

  it("reports that the build was cancelled", async () => {
    await using heart = start((nth) => nth === 2);

    await eventually("the stop", () => heart.stops.length > 0);

    expect(heart.stops[0]).toBe("cancelled");
  });

  it("reports that another attempt has the lease", async () => {
    await using heart = start(() => new RemoteRefusal("POST /heartbeat", 410, ""));

    await eventually("the stop", () => heart.stops.length > 0);

    expect(heart.stops[0]).toBe("late");
  });

  it("keeps a build while the Worker fails, and retries early", async () => {
    await using heart = start((nth) => (nth === 1 ? new RemoteRefusal("POST /heartbeat", 503, "") : false), 60_000);

    await eventually("the second beat", () => heart.sentAt.length === 2);

    expect(heart.stops).toEqual([]);
  });

  it("sends news early", async () => {
    await using heart = start(() => false, 60_000);
    await eventually("the first beat", () => heart.sentAt.length === 1);

    heart.loop.nudge();

    await eventually("the second beat", () => heart.sentAt.length === 2);
  });
});
