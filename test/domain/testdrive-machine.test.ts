import { describe, expect, it } from "vitest";
import {
  advance,
  nextWakeUp,
  startWaiting,
  type TestdriveEvent,
  type TestdriveState,
} from "#domain/testdrives/machine";

const minute = 60_000;
const noViewers = { page: 0, tcp: 0 };
const waiting = startWaiting(0);
const preparing: TestdriveState = {
  status: "preparing",
  agentHeardAt: 0,
  readyBy: 10 * minute,
  message: "",
  viewers: noViewers,
};
const running: TestdriveState = {
  status: "running",
  agentHeardAt: 0,
  endsAt: 60 * minute,
  viewers: noViewers,
  emptySince: 0,
};
const watched: TestdriveState = { ...running, viewers: { page: 1, tcp: 0 }, emptySince: null };
const ended: TestdriveState = { status: "ended", cause: "stopped", reason: "You stopped it.", endedAt: 5 };

/** The same state, with an agent that was last heard from at this time. */
const heard = <T extends object>(state: T, agentHeardAt: number) => ({ ...state, agentHeardAt });

describe("a session that checks an image", () => {
  it("lasts without anyone connected", () => {
    const ready = advance(preparing, { type: "ready", at: 5, sessionMs: 60 * minute, isUnwatched: true });
    const counted = advance(ready, { type: "viewers", of: "tcp", count: 0, at: 6 });
    const alive = advance(counted, { type: "heard", at: 25_000 });
    expect(advance(advance(alive, { type: "heard", at: 50_000 }), { type: "heard", at: 75_000 }).status).toBe(
      "running",
    );
    expect(nextWakeUp(alive)).toBe(25_000 + 30_000);
  });
});

describe("advance", () => {
  it.each<[string, TestdriveState, TestdriveEvent, object]>([
    [
      "gives a waiting session to the agent that claims it",
      waiting,
      { type: "claimed", at: 9_999 },
      { status: "preparing", agentHeardAt: 9_999, readyBy: 609_999 },
    ],
    [
      "frees the slot if no agent claims it for 10 s",
      waiting,
      { type: "woke_up", at: 10_000 },
      { status: "ended", cause: "unclaimed" },
    ],
    [
      "refuses a claim that comes too late",
      waiting,
      { type: "claimed", at: 10_000 },
      { status: "ended", cause: "unclaimed" },
    ],
    [
      "can be stopped by its user while it waits",
      waiting,
      { type: "stopped", at: 1 },
      { status: "ended", cause: "stopped" },
    ],
    ["keeps waiting if the alarm is early", waiting, { type: "woke_up", at: 9_999 }, waiting],
    [
      "shows the agent's preparation message",
      preparing,
      { type: "prepares", message: "Fetching", at: 7 },
      { status: "preparing", message: "Fetching", agentHeardAt: 7 },
    ],
    [
      "shows what has happened to the running machine",
      running,
      { type: "prepares", message: "It was started again.", at: 7 },
      { ...heard(running, 7), message: "It was started again." },
    ],
    [
      "starts both clocks at ready",
      preparing,
      { type: "ready", sessionMs: 100, at: 7 },
      { status: "running", endsAt: 107, emptySince: 7 },
    ],
    [
      "starts with a viewer who connected early",
      { ...preparing, viewers: { page: 1, tcp: 0 } },
      { type: "ready", sessionMs: 100, at: 7 },
      { status: "running", emptySince: null },
    ],
    [
      "does not restart the clocks at a second ready",
      running,
      { type: "ready", sessionMs: 100, at: 7 },
      heard(running, 7),
    ],
    [
      "ends if the agent prepares for too long",
      heard(preparing, 10 * minute - 1),
      { type: "woke_up", at: 10 * minute },
      { cause: "never_ready" },
    ],
    [
      "ends if the agent is silent while it prepares",
      preparing,
      { type: "woke_up", at: 30_000 },
      { cause: "agent_lost" },
    ],
    [
      "ends if the agent is silent while users watch",
      watched,
      { type: "woke_up", at: 30_000 },
      { cause: "agent_lost" },
    ],
    ["continues while the agent reports", heard(watched, 1), { type: "woke_up", at: 30_000 }, heard(watched, 1)],
    [
      "ends if no viewer connects for 60 s",
      heard(running, minute),
      { type: "woke_up", at: minute },
      { cause: "aborted", endedAt: minute },
    ],
    [
      "continues until one millisecond before that",
      heard(running, minute),
      { type: "woke_up", at: minute - 1 },
      { status: "running" },
    ],
    [
      "refuses viewers after 60 s, even if the alarm is late",
      heard(running, minute),
      { type: "viewers", of: "page", count: 1, at: minute },
      { cause: "aborted" },
    ],
    [
      "stops the 60 s for a browser",
      running,
      { type: "viewers", of: "page", count: 1, at: 5 },
      { emptySince: null, agentHeardAt: 0 },
    ],
    [
      "stops the 60 s for a VNC client",
      running,
      { type: "viewers", of: "tcp", count: 1, at: 5 },
      { emptySince: null, agentHeardAt: 5 },
    ],
    [
      "restarts the 60 s when the last viewer leaves",
      watched,
      { type: "viewers", of: "page", count: 0, at: 9 },
      { status: "running", emptySince: 9 },
    ],
    [
      "keeps the clock if there was no viewer to leave",
      running,
      { type: "viewers", of: "tcp", count: 0, at: 9 },
      { emptySince: 0 },
    ],
    [
      "does not restart them while another viewer is connected",
      { ...watched, viewers: { page: 1, tcp: 1 } },
      { type: "viewers", of: "page", count: 0, at: 9 },
      { emptySince: null },
    ],
    [
      "ends after the session's time, even with viewers",
      heard(watched, 60 * minute),
      { type: "woke_up", at: 60 * minute },
      { cause: "time_over" },
    ],
    ["ends when its user stops it", watched, { type: "stopped", at: 9 }, { cause: "stopped", endedAt: 9 }],
    [
      "ends with the agent's reason",
      watched,
      { type: "agent_stopped", reason: "Powered off.", at: 9 },
      { cause: "agent_stopped", reason: "Powered off." },
    ],
    ["cannot be claimed twice", preparing, { type: "claimed", at: 9 }, preparing],
    ["stays ended after any event", ended, { type: "ready", sessionMs: 1, at: 9 }, ended],
  ])("%s", (_title, state, event, expected) => {
    expect(advance(state, event)).toMatchObject(expected);
  });
});

describe("nextWakeUp", () => {
  it.each<[string, TestdriveState, number]>([
    ["the end of the wait for a claim", waiting, 10_000],
    ["the agent's silence while it prepares", preparing, 30_000],
    ["the longest preparation", heard(preparing, 10 * minute - 1), 10 * minute],
    ["the agent's silence while it runs", running, 30_000],
    ["60 s without viewers", heard(running, 50_000), minute],
    ["the end of the session", heard(watched, 60 * minute - 1), 60 * minute],
    ["a day after its end, when it is deleted", ended, 5 + 24 * 60 * minute],
  ])("is %s", (_what, state, at) => {
    expect(nextWakeUp(state)).toBe(at);
  });
});
