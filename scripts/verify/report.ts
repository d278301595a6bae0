import { seconds } from "../launch/progress.ts";
import { table, tablesIn } from "./tables.ts";

/** One step that was tried. */
export type Step = {
  /** The subject of the step: a template and a format, or the base system itself. */
  of: string;
  what: string;
  outcome: "passed" | "failed" | "not possible";
  ms: number;
  /** The result, or why the step failed. */
  detail: string;
};

export type Verified = {
  title: string;
  /** The command that writes the report, after `npm run`. */
  command: string;
  startedAt: Date;
  /** Facts about this machine, and versions of programs, by name. */
  machine: ReadonlyMap<string, string>;
  steps: readonly Step[];
};

export const failuresIn = (steps: readonly Step[]): Step[] => steps.filter(({ outcome }) => outcome === "failed");

type Line = Record<string, string>;

const stepHead = ["What", "Step", "Result", "Time", "Seen", "Run"];
const longestDetail = 500;

/**
 * The report as Markdown. `earlier` is the existing report. Its lines and the run that wrote them are kept, unless this
 * run has tried the same subject.
 */
export function reportOf({ title, command, startedAt, machine, steps }: Verified, earlier = ""): string {
  const run = timeOfRun(startedAt);
  const [earlierRuns = [], earlierLines = []] = tablesIn(earlier);
  const tried = new Set(steps.map(({ of }) => of));
  const lines = [
    ...earlierLines.filter(({ What = "" }) => !tried.has(What)),
    ...steps.map((step) => lineOf(step, run)),
  ];
  const seenIn = new Set(lines.map(({ Run }) => Run));
  const runs = [...earlierRuns, { Run: run, ...Object.fromEntries(machine) }]
    .filter(({ Run }) => seenIn.has(Run))
    .toSorted(byRun);
  return [
    `# ${title}`,
    "",
    `Written by \`npm run ${command}\`. ${sumOf(lines)} Each line names the run that checked it, by its time in UTC.`,
    "",
    table(["Run", ...machine.keys()], runs),
    "",
    table(stepHead, lines.toSorted(byWhat)),
    "",
  ].join("\n");
}

/** The name of a run: its time in UTC, as in `2026-11-27 03:10`. */
export const timeOfRun = (startedAt: Date): string => startedAt.toISOString().slice(0, 16).replace("T", " ");

const lineOf = ({ of, what, outcome, ms, detail }: Step, run: string): Line => ({
  What: of,
  Step: what,
  Result: outcome,
  Time: seconds(ms),
  Seen: detail.slice(0, longestDetail),
  Run: run,
});

/** The steps of one subject stay in the order of the run. */
const byWhat = (one: Line, other: Line): number => (one["What"] ?? "").localeCompare(other["What"] ?? "", "en");

const byRun = (one: Line, other: Line): number => (one["Run"] ?? "").localeCompare(other["Run"] ?? "", "en");

function sumOf(lines: readonly Line[]): string {
  const failed = lines.filter(({ Result }) => Result === "failed").length;
  const tried = lines.filter(({ Result }) => Result !== "not possible").length;
  if (tried === 0) return "Nothing was tried.";
  return failed === 0 ? `All ${tried} steps passed.` : `${failed} of ${tried} steps failed.`;
}
