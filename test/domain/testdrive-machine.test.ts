import { describe, expect, it } from "vitest";
import {
  advance,
  nextWakeUp,
  startWaiting,
  type TestdriveEvent,
  type TestdriveState,
} from "#domain/testdrives/machine";

const minute = 60_000;
const nobody = { page: 0, tcp: 0 };
const waiting = startWaiting(0);
const preparing: TestdriveState = {
  status: "preparing",
  agentHeardAt: 0,
  readyBy: 10 * minute,
  message: "",
  viewers: nobody,
};
const running: TestdriveState = {
  status: "running",
  agentHeardAt: 0,
  endsAt: 60 * minute,
  viewers: nobody,
  emptySince: 0,
};
const watched: TestdriveState = { ...running, viewers: { page: 1, tcp: 0 }, emptySince: null };
const ended: TestdriveState = { status: "ended", cause: "stopped", reason: "You stopped it.", endedAt: 5 };

/** The same state with an agent that was just heard of. */
const heard = <T extends object>(state: T, agentHeardAt: number) => ({ ...state, agentHeardAt });

describe("advance", () => {
  it.each<[string, TestdriveState, TestdriveEvent, object]>([
    [
      "gives a waiting one to the agent that claims",
      waiting,
      { type: "claimed", at: 9_999 },
      { status: "preparing", agentHeardAt: 9_999, readyBy: 609_999 },
    ],
    [
      "frees the slot when nobody claims for 10 s",
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
      "lets its user stop it while it waits",
      waiting,
      { type: "stopped", at: 1 },
      { status: "ended", cause: "stopped" },
    ],
    ["stays waiting when the alarm rings early", waiting, { type: "woke_up", at: 9_999 }, waiting],
    [
      "shows what the agent prepares",
      preparing,
      { type: "prepares", message: "Fetching", at: 7 },
      { status: "preparing", message: "Fetching", agentHeardAt: 7 },
    ],
    [
      "starts both clocks with ready",
      preparing,
      { type: "ready", sessionMs: 100, at: 7 },
      { status: "running", endsAt: 107, emptySince: 7 },
    ],
    [
      "starts with a viewer who came early",
      { ...preparing, viewers: { page: 1, tcp: 0 } },
      { type: "ready", sessionMs: 100, at: 7 },
      { status: "running", emptySince: null },
    ],
    [
      "does not start the clocks again with a second ready",
      running,
      { type: "ready", sessionMs: 100, at: 7 },
      heard(running, 7),
    ],
    [
      "gives up an agent that prepares for too long",
      heard(preparing, 10 * minute - 1),
      { type: "woke_up", at: 10 * minute },
      { cause: "never_ready" },
    ],
    [
      "gives up an agent that is silent while it prepares",
      preparing,
      { type: "woke_up", at: 30_000 },
      { cause: "agent_lost" },
    ],
    [
      "gives up an agent that is silent while people watch",
      watched,
      { type: "woke_up", at: 30_000 },
      { cause: "agent_lost" },
    ],
    ["does not give up an agent that was heard", heard(watched, 1), { type: "woke_up", at: 30_000 }, heard(watched, 1)],
    [
      "aborts when nobody connects for 60 s",
      heard(running, minute),
      { type: "woke_up", at: minute },
      { cause: "aborted", endedAt: minute },
    ],
    ["waits one millisecond less", heard(running, minute), { type: "woke_up", at: minute - 1 }, { status: "running" }],
    [
      "lets nobody in after these 60 s, even when the alarm is late",
      heard(running, minute),
      { type: "viewers", of: "page", count: 1, at: minute },
      { cause: "aborted" },
    ],
    [
      "stops the 60 s with a browser",
      running,
      { type: "viewers", of: "page", count: 1, at: 5 },
      { emptySince: null, agentHeardAt: 0 },
    ],
    [
      "stops the 60 s with a VNC client",
      running,
      { type: "viewers", of: "tcp", count: 1, at: 5 },
      { emptySince: null, agentHeardAt: 5 },
    ],
    [
      "starts the 60 s again when the last one leaves",
      watched,
      { type: "viewers", of: "page", count: 0, at: 9 },
      { status: "running", emptySince: 9 },
    ],
    [
      "keeps the clock when nobody leaves nobody",
      running,
      { type: "viewers", of: "tcp", count: 0, at: 9 },
      { emptySince: 0 },
    ],
    [
      "does not start them while another kind still watches",
      { ...watched, viewers: { page: 1, tcp: 1 } },
      { type: "viewers", of: "page", count: 0, at: 9 },
      { emptySince: null },
    ],
    [
      "ends with the session's time, whoever watches",
      heard(watched, 60 * minute),
      { type: "woke_up", at: 60 * minute },
      { cause: "time_over" },
    ],
    ["ends when its user stops it", watched, { type: "stopped", at: 9 }, { cause: "stopped", endedAt: 9 }],
    [
      "ends with the agent's own words",
      watched,
      { type: "agent_stopped", reason: "Powered off.", at: 9 },
      { cause: "agent_stopped", reason: "Powered off." },
    ],
    ["cannot be claimed twice", preparing, { type: "claimed", at: 9 }, preparing],
    ["stays ended whatever happens", ended, { type: "ready", sessionMs: 1, at: 9 }, ended],
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
    ["60 s without anybody", heard(running, 50_000), minute],
    ["the end of the session", heard(watched, 60 * minute - 1), 60 * minute],
    ["the day after its end, when it is forgotten", ended, 5 + 24 * 60 * minute],
  ])("is %s", (_what, state, at) => {
    expect(nextWakeUp(state)).toBe(at);
  });
});
