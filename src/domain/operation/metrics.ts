import { troubleCodes, troublesOf } from "#domain/operation/health";
import type { Snapshot } from "#domain/operation/snapshot";
import type { Counter, CounterName } from "#storage/counters";

/** A value, and the labels that distinguish it from the other values of its metric. */
interface Sample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** A metric for the operator's monitoring. */
export interface Metric {
  name: string;
  help: string;
  type: "gauge" | "counter";
  samples: readonly Sample[];
}

/**
 * Labels of counters that start at 0. Prometheus sees no increase in the first sample of a series. Without the 0, an
 * alert would miss the first failure.
 */
const known: Partial<Record<CounterName, readonly string[]>> = {
  builds_ended: ["finished", "failed content", "failed time_limit", "error silence", "error restart", "error fault"],
  attempts_lost: ["silence", "restart", "fault"],
  imports_given_up: [""],
  refusals: ["internal_error 500", "other 500"],
};

/** All metrics at one moment. */
export const metricsOf = (now: Snapshot): Metric[] => [
  ...ofBuilds(now),
  ...ofAgents(now),
  ...ofTheRest(now),
  ...ofHealth(now),
];

function ofBuilds({ at, amounts, counters, slots }: Snapshot): Metric[] {
  return [
    gauge("kiln_builds", "Unfinished builds", [
      { labels: { state: "queued" }, value: amounts.queuedBuilds },
      { labels: { state: "running" }, value: amounts.runningBuilds },
    ]),
    gauge("kiln_builds_oldest_queued_seconds", "How long the oldest queued build has waited; 0: none is queued", [
      { value: secondsSince(amounts.queuedSince ?? at, at) },
    ]),
    gauge("kiln_build_slots", "Maximum number of unfinished builds (MAX_BUILDS)", [{ value: slots.builds }]),
    counter(
      "kiln_builds_ended_total",
      "Ended builds, by state, and by cause if there is no image",
      labelled(counters, "builds_ended", ["state", "cause"]),
    ),
    counter(
      "kiln_build_attempts_lost_total",
      "Attempts of agents that were lost, by cause",
      labelled(counters, "attempts_lost", ["cause"]),
    ),
  ];
}

function ofAgents({ agents, amounts, slots }: Snapshot): Metric[] {
  const alive = agents.filter(({ isAlive }) => isAlive);
  const working = alive.filter(({ isDrained }) => !isDrained);
  return [
    gauge(
      "kiln_agents",
      "Registered agents. Busy: alive, with a build or a testdrive. Full: without room for a build",
      [
        { labels: { state: "idle" }, value: working.filter(({ isBusy, isFull }) => !isBusy && !isFull).length },
        { labels: { state: "full" }, value: working.filter(({ isFull }) => isFull).length },
        { labels: { state: "busy" }, value: working.filter(({ isBusy }) => isBusy).length },
        { labels: { state: "draining" }, value: alive.length - working.length },
        { labels: { state: "silent" }, value: agents.length - alive.length },
      ],
    ),
    gauge("kiln_testdrives", "Testdrives that have not ended", [
      { labels: { state: "new" }, value: amounts.newTestdrives },
      { labels: { state: "running" }, value: amounts.runningTestdrives },
    ]),
    gauge("kiln_testdrive_slots", "Maximum number of testdrives at the same time (MAX_TESTDRIVES)", [
      { value: slots.testdrives },
    ]),
  ];
}

function ofTheRest({ at, amounts, counters, chores, databaseBytes }: Snapshot): Metric[] {
  return [
    gauge("kiln_imports", "Imports of repositories that wait or run, and repositories whose last one failed", [
      { labels: { state: "waiting" }, value: amounts.waitingImports },
      { labels: { state: "running" }, value: amounts.sentImports },
      { labels: { state: "failed" }, value: amounts.failedImports },
    ]),
    counter(
      "kiln_imports_given_up_total",
      "Imports that failed or were killed at every try",
      labelled(counters, "imports_given_up", []),
    ),
    counter(
      "kiln_refusals_total",
      "Answers with an error, by its code and status",
      labelled(counters, "refusals", ["code", "status"]),
    ),
    gauge(
      "kiln_sweep_lag_seconds",
      "Time since each chore of the sweep last succeeded",
      chores.map(({ chore, succeededAt }) => ({
        labels: { chore },
        value: secondsSince(succeededAt.getTime(), at),
      })),
    ),
    gauge("kiln_database_bytes", "Size of each D1 database", [
      { labels: { database: "main" }, value: databaseBytes.main },
      { labels: { database: "packages" }, value: databaseBytes.packages },
    ]),
    gauge(
      "kiln_storage_bytes",
      "Bytes that all accounts store, as of the sweep's last count",
      labelled(counters, "storage_bytes", []),
    ),
  ];
}

function ofHealth(now: Snapshot): Metric[] {
  const troubles = troublesOf(now);
  return [
    gauge(
      "kiln_trouble",
      "1: work is blocked for this reason (/admin/health)",
      troubleCodes.map((reason) => ({
        labels: { reason },
        value: troubles.some(({ code }) => code === reason) ? 1 : 0,
      })),
    ),
  ];
}

const gauge = (name: string, help: string, samples: Sample[]): Metric => ({ name, help, type: "gauge", samples });
const counter = (name: string, help: string, samples: Sample[]): Metric => ({ name, help, type: "counter", samples });

/** Splits a stored label into words, one value for each of the labels. */
function labelled(counters: readonly Counter[], name: CounterName, labels: readonly string[]): Sample[] {
  const raised = counters.filter((one) => one.name === name).map(({ label, value }) => [label.trim(), value] as const);
  const zeros = (known[name] ?? []).map((label) => [label, 0] as const);
  return [...new Map([...zeros, ...raised])].map(([label, value]) => {
    const words = label.split(" ");
    return { labels: Object.fromEntries(labels.map((key, nth) => [key, words[nth] ?? ""])), value };
  });
}

const secondsSince = (since: number, at: number): number => Math.max(0, Math.round((at - since) / 1_000));
