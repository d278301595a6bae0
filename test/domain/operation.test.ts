import { expect, it } from "vitest";
import { prometheusText } from "#admin-api/operation";
import { troublesOf } from "#domain/operation/health";
import type { Snapshot } from "#domain/operation/snapshot";

const at = Date.parse("2026-11-22T12:00:00Z");
const ago = (minutes: number) => at - minutes * 60_000;

const idle: Snapshot = {
  at,
  amounts: {
    queuedBuilds: 0,
    runningBuilds: 0,
    queuedSince: null,
    newTestdrives: 0,
    runningTestdrives: 0,
    waitingImports: 0,
    sentImports: 0,
    failedImports: 0,
  },
  agents: [],
  counters: [],
  chores: [{ chore: "forgetSessions", succeededAt: new Date(ago(1)) }],
  isDiskFull: false,
  databaseBytes: { main: 4096, packages: 8192 },
  slots: { builds: 8, testdrives: 8 },
};

const agent = { isAlive: true, isBusy: false, isDrained: false, isFull: false };
const waiting = (minutes: number, by: "idle agents" | "busy agents" | "full agents"): Snapshot => ({
  ...idle,
  amounts: { ...idle.amounts, queuedBuilds: 1, queuedSince: ago(minutes) },
  agents: [{ ...agent, isBusy: by === "busy agents", isFull: by === "full agents" }],
  doable: { waitsSince: ago(minutes), by },
});

it.each([
  ["nothing waits", idle, []],
  ["an agent has just become idle", waiting(9, "idle agents"), []],
  ["an idle agent leaves a build", waiting(10, "idle agents"), ["builds_wait"]],
  ["all agents are busy", waiting(59, "busy agents"), []],
  ["all agents have been busy for an hour", waiting(60, "busy agents"), ["builds_wait"]],
  ["a disk was full for a moment", waiting(9, "full agents"), []],
  ["the disks of all agents are full", waiting(10, "full agents"), ["builds_wait"]],
  [
    "no agent can do the build, which the appliance's owner sees",
    { ...waiting(90, "idle agents"), doable: undefined },
    [],
  ],
  ["no agent has been alive since a restart", { ...waiting(1, "idle agents"), agents: [] }, []],
  [
    "no agent is alive",
    { ...waiting(2, "idle agents"), agents: [{ ...agent, isAlive: false }], doable: undefined },
    ["no_agents"],
  ],
  ["the sweep has never run", { ...idle, chores: [] }, ["sweep_late"]],
] satisfies [string, Snapshot, string[]][])("%s", (_, now, codes) => {
  expect(troublesOf(now).map(({ code }) => code)).toEqual(codes);
});

it("escapes what a label or a help text must not contain", () => {
  const samples = [{ labels: { code: 'a "quoted"\nback\\slash' }, value: 1 }, { value: 2 }];
  expect(prometheusText([{ name: "x", help: 'one\ntwo\\three "four"', type: "gauge", samples }])).toBe(
    '# HELP x one\\ntwo\\\\three "four"\n# TYPE x gauge\nx{code="a \\"quoted\\"\\nback\\\\slash"} 1\nx 2\n',
  );
});
