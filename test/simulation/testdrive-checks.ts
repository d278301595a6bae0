import { unbound } from "#domain/attempt-token";
import { emptyForMs, type TestdriveState } from "#domain/testdrives/machine";
import { slotsOf } from "#domain/testdrives/testdrive";
import { agentNames, announced, lasting, slots, type Check } from "./check.ts";
import { sessions } from "./sessions.ts";
import { witness } from "./witness.ts";
import type { World } from "./world.ts";

interface Row {
  id: number;
  uid: string;
  account_id: number;
}

/** A testdrive according to its object. D1 may lag behind. */
interface Stored {
  state: TestdriveState;
  attempt?: { agentId: number; token: string };
}

const live = "state <> 'ended'";
const rows = ({ service }: World, where = "1"): Row[] =>
  service.database.query(`SELECT id, uid, account_id FROM testdrives WHERE ${where}`) as unknown as Row[];

const stored = ({ service }: World, { uid }: Row) =>
  service.objects.TESTDRIVES.existing.get(uid)?.storage.peek("session") as Stored | undefined;

const isFree = (name: string) => [...sessions.running].filter(({ agent }) => agent === name).length < slots;

/** The time after an agent's failure in which its testdrives may end because of it. */
const aftermathMs = 3 * 60_000;

type Ended = Extract<TestdriveState, { status: "ended" }>;

/** Whether the events that agents and viewers have seen explain the end. */
function isExplained({ network }: World, { id, agent }: { id: number; agent: string }, state: Ended): boolean {
  const { cause, endedAt } = state;
  const hasFailed = endedAt - (witness.failedAt.get(agent) ?? -Infinity) < aftermathMs;
  if (cause === "unclaimed") return true; // another check covers whether an agent was free
  if (cause === "stopped") return sessions.stopped.has(id);
  const couldNotClaimAgain = endedAt - network.claimFailedAgainAt < aftermathMs;
  if (cause === "agent_lost") return hasFailed || (couldNotClaimAgain && !sessions.begun.has(id));
  if (cause === "agent_stopped") return hasFailed || sessions.endedByAgent.has(id);
  if (cause === "time_over") return endedAt - (sessions.begun.get(id)?.claimedAt ?? endedAt) >= sessionMs;
  const emptySince = sessions.emptySince.get(id) ?? -Infinity;
  return cause === "aborted" && !sessions.isViewed(id) && endedAt - emptySince >= emptyForMs - travelMs;
}

const sessionMs = 4 * 60_000;
/** A viewer learns this a little later than the object. */
const travelMs = 5_000;

/** Testdrives whose end is known, by world. */
const ended = new WeakMap<World, Set<number>>();

export const testdriveChecks: readonly Check[] = [
  {
    name: "agents get each testdrive once, with its build's image",
    when: "step",
    violations: () => sessions.faults,
  },
  {
    name: "a testdrive that has ended stays so",
    when: "step",
    violations: (world) => {
      const before = ended.get(world) ?? new Set();
      ended.set(world, new Set(rows(world, "state = 'ended'").map(({ id }) => id)));
      return [...before].filter((id) => !ended.get(world)?.has(id)).map((id) => `testdrive ${id}`);
    },
  },
  {
    name: "there are not more testdrives than there may be",
    when: "step",
    violations: (world) => {
      const limits = slotsOf(world.service.env);
      const all = rows(world, live);
      const counts = Map.groupBy(all, (row) => row.account_id);
      const tooMany = [...counts].filter(([, own]) => own.length > limits.perAccount);
      return [
        ...(all.length > limits.all ? [`${all.length} of all accounts`] : []),
        ...tooMany.map(([account, own]) => `${own.length} of account ${account}`),
      ];
    },
  },
  {
    name: "an agent stops a testdrive that is not its own",
    when: "step",
    violations: (world) => {
      const isOwn = ({ uid, token }: { uid: string; token: string }) => {
        const session = stored(world, { uid } as Row);
        return session?.state.status !== "ended" && session?.attempt?.token === unbound(token);
      };
      const late = () =>
        [...sessions.running]
          .filter(({ agent, token }) => !world.isCut(agent) && !isOwn({ uid: token.split(".")[2] ?? "", token }))
          .map(({ id, agent }) => `${agent} still runs testdrive ${id}`);
      return lasting(world, "late testdrive", 45_000, late);
    },
  },
  {
    name: "a testdrive without viewers ends",
    when: "step",
    violations: (world) => {
      const alone = () =>
        rows(world, live)
          .filter((row) => stored(world, row)?.state.status === "running" && !sessions.isViewed(row.id))
          .map(({ id }) => `testdrive ${id} runs for no one`);
      return lasting(world, "alone", world.isCalm ? emptyForMs + travelMs : 2.5 * emptyForMs, alone);
    },
  },
  {
    name: "a testdrive that has ended frees its slot",
    when: "step",
    violations: (world) => {
      const kept = () =>
        rows(world, live)
          .filter((row) => (stored(world, row)?.state.status ?? "ended") === "ended")
          .map(({ id }) => `testdrive ${id} holds a slot`);
      return lasting(world, "kept", world.isCalm ? 10_000 : 8 * 60_000, kept);
    },
  },
  {
    name: "if nothing fails, a free agent gets a testdrive soon",
    when: "step",
    violations: (world) => {
      const waiting = () =>
        world.hosts.some(({ name }) => isFree(name))
          ? rows(world, live)
              .filter((row) => stored(world, row)?.state.status === "waiting")
              .map(({ id }) => `testdrive ${id} waits`)
          : [];
      return world.isCalm ? lasting(world, "waiting testdrive", 5_000, waiting) : [];
    },
  },
  {
    name: "every testdrive ends",
    when: "end",
    violations: (world) => rows(world, live).map(({ id }) => `testdrive ${id}`),
  },
  {
    name: "no testdrive ends without a cause",
    when: "end",
    violations: (world) => {
      const names = agentNames(world);
      return rows(world).flatMap((row) => {
        const { state, attempt } = stored(world, row) ?? {};
        if (state?.status !== "ended") return [];
        const agent = names.get(attempt?.agentId ?? 0) ?? "";
        return isExplained(world, { id: row.id, agent }, state)
          ? []
          : [`testdrive ${row.id}: ${state.cause}, ${agent}`];
      });
    },
  },
  {
    name: "an accepted testdrive has its row",
    when: "end",
    violations: (world) => {
      const known = new Set(rows(world).map(({ uid }) => uid));
      return [...sessions.accepted].filter((uid) => !known.has(uid));
    },
  },
  {
    name: "every testdrive that an agent had is announced once",
    when: "end",
    violations: (world) => {
      const told = announced(world, "testdrive");
      return rows(world).flatMap((row) => {
        const times = told.filter(({ id, state }) => id === row.id && state === "ended").length;
        return times === (stored(world, row)?.attempt ? 1 : 0) ? [] : [`testdrive ${row.id}: ${times} times`];
      });
    },
  },
];
