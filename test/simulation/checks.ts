import { artifactKey, buildsPrefix } from "#storage/blobs";
import { clock } from "./runtime/clock.ts";
import type { World } from "./world.ts";
import { agentNames, announced, lasting, slots, type Check } from "./check.ts";
import { importChecks } from "./import-checks.ts";
import { publicationChecks } from "./publication-checks.ts";
import { testdriveChecks } from "./testdrive-checks.ts";
import { uploadChecks } from "./upload-checks.ts";
import { webhookChecks } from "./webhook-checks.ts";
import { witness, type Attempt } from "./witness.ts";

interface Row {
  id: number;
  uid: string;
  account_id: number;
  status: string;
  image_key: string | null;
}

const rows = ({ service }: World, where = "1"): Row[] =>
  service.database.query(
    `SELECT id, uid, account_id, status, image_key FROM builds WHERE ${where}`,
  ) as unknown as Row[];

const isEnded = ({ status }: Row) => status !== "queued" && status !== "running";

const isFree = (name: string) => [...witness.running].filter(({ agent }) => agent === name).length < slots;

/** The builds that agents have, according to the builds' objects. D1 may lag behind. */
function heldBuilds(world: World): { id: number; attempt: number; agent: string }[] {
  const names = agentNames(world);
  return [...world.service.objects.BUILDS.existing.values()].flatMap(({ storage }) => {
    const state = storage.peek("state") as { status: string; attempt: number; agentId: number } | undefined;
    if (state?.status !== "running") return [];
    const agent = names.get(state.agentId) ?? "";
    return [{ id: Number(storage.peek("buildId")), attempt: state.attempt, agent }];
  });
}

/** The state of each build after its end, by world. */
const endings = new WeakMap<World, Map<number, string>>();

/** After five failed attempts at a claim, the agent pauses before a poll, and then claims again. */
const claimedAgainMs = 28_000;

/** More than all agents and objects do in a millisecond. */
const mostAtOnce = 2_000;

const buildChecks: readonly Check[] = [
  {
    name: "nothing runs in a loop",
    when: "always",
    violations: () => (clock.atOnce > mostAtOnce ? [`${clock.atOnce} events at the same time`] : []),
  },
  {
    name: "a build that has ended stays as it is",
    when: "step",
    violations: (world) => {
      const known = endings.get(world) ?? new Map<number, string>();
      endings.set(world, known);
      return rows(world).flatMap((row) => {
        if (!isEnded(row)) return known.has(row.id) ? [`build ${row.id} is ${row.status} again`] : [];
        const end = `${row.status} ${row.image_key}`;
        const before = known.get(row.id) ?? end;
        known.set(row.id, end);
        return before === end ? [] : [`build ${row.id} was ${before}, and is ${end}`];
      });
    },
  },
  {
    name: "an accepted build has its row",
    when: "step",
    violations: (world) => {
      const known = new Set(rows(world).map(({ uid }) => uid));
      return [...witness.accepted].filter((uid) => !known.has(uid)).map((uid) => `build ${uid} is gone`);
    },
  },
  {
    name: "no attempt is lost without a cause",
    when: "step",
    violations: ({ service }) => {
      const [row] = service.database.query("SELECT total(value) AS n FROM counters WHERE name = 'attempts_lost'");
      const lost = Number(row?.["n"]);
      return lost > witness.excuses ? [`${lost} attempts are lost, but only ${witness.excuses} can be`] : [];
    },
  },
  {
    name: "no build runs to its end twice",
    when: "step",
    violations: () => {
      const builds = witness.results.map(({ buildId }) => buildId);
      return builds.filter((id, nth) => builds.indexOf(id) !== nth).map((id) => `build ${id}`);
    },
  },
  {
    name: "agents do as they must, and get each attempt once",
    when: "step",
    violations: () => witness.faults,
  },
  {
    name: "an agent works on what it holds",
    when: "step",
    violations: (world) =>
      lasting(world, "idle", 20_000, () =>
        heldBuilds(world)
          .filter(({ id, agent }) => {
            const isWorkedOn = [...witness.running].some((made) => made.buildId === id && made.agent === agent);
            const isAsking = clock.now - world.network.claimLostAt < claimedAgainMs;
            return !world.isAway && !world.isCut(agent) && !isWorkedOn && !isAsking;
          })
          .map(({ id, agent }) => `build ${id}: ${agent} does not work on it`),
      ),
  },
  {
    name: "an agent stops what is not its own",
    when: "step",
    violations: (world) => {
      const held = heldBuilds(world);
      const isOwn = ({ buildId, attempt, agent }: Attempt) =>
        held.some((each) => each.id === buildId && each.attempt === attempt && each.agent === agent);
      const late = () =>
        [...witness.running]
          .filter((made) => !isOwn(made) && !world.isCut(made.agent))
          .map(({ buildId, agent }) => `${agent} still works on build ${buildId}`);
      return lasting(world, "late", 25_000, late);
    },
  },
  {
    name: "if nothing fails, a free agent gets a build soon",
    when: "step",
    violations: (world) => {
      const waiting = () =>
        world.hosts.some(({ name }) => isFree(name))
          ? rows(world, "status = 'queued'").map(({ id }) => `build ${id} waits`)
          : [];
      return world.isCalm ? lasting(world, "waits", 5_000, waiting) : [];
    },
  },
  {
    name: "every build ends",
    when: "end",
    violations: (world) =>
      rows(world, "status IN ('queued', 'running')").map(({ id, status }) => `build ${id} is ${status}`),
  },
  {
    name: "an image that the service has accepted is the build's",
    when: "end",
    violations: (world) => {
      const all = new Map(rows(world).map((row) => [row.id, row]));
      return witness.results.flatMap(({ buildId, attempt, token }) => {
        const row = all.get(buildId);
        const key = artifactKey(token.split(".")[2] ?? "", attempt, "image");
        return row?.status === "finished" && row.image_key === key
          ? []
          : [`build ${buildId}, attempt ${attempt}: it is ${row?.status} with ${row?.image_key}`];
      });
    },
  },
  {
    name: "no agent is told that its image is late if it is the build's",
    when: "end",
    violations: (world) => {
      const keys = new Set(rows(world).map(({ image_key: key }) => key));
      return witness.late
        .filter(({ token, attempt }) => keys.has(artifactKey(token.split(".")[2] ?? "", attempt, "image")))
        .map(({ buildId, agent }) => `build ${buildId}: ${agent}`);
    },
  },
  {
    name: "every end is announced once",
    when: "end",
    violations: (world) => {
      const told = announced(world, "build").map(({ id, state }) => `${id} ${state}`);
      return rows(world).flatMap(({ id, status }) => {
        const times = told.filter((each) => each === `${id} ${status}`).length;
        return times === 1 ? [] : [`build ${id}, ${status}: ${times} times`];
      });
    },
  },
  {
    // R2 does not list uploads. So an upload that a crash has left before its first part stays, but it has no bytes.
    name: "no part of an agent's upload is left",
    when: "end",
    violations: ({ service }) =>
      [...service.bucket.begun.values()]
        .filter(({ key, parts }) => key.startsWith(buildsPrefix) && parts.size > 0)
        .map(({ key }) => key),
  },
];

export const checks: readonly Check[] = [
  ...buildChecks,
  ...testdriveChecks,
  ...uploadChecks,
  ...webhookChecks,
  ...publicationChecks,
  ...importChecks,
];
