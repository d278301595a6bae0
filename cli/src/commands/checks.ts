import { command, flag } from "../command.ts";
import type { Exit } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { table, visibleLines } from "../output/table.ts";
import { buildId } from "../resolve.ts";
import { untilEnded } from "../until-ended.ts";

type Run = Awaited<ReturnType<typeof lastRun>>;

export const checks = [
  command("check <build>", {
    tool: "writes",
    summary: "Boot an image and run its appliance's checks; the exit code shows whether they passed",
    details:
      "The checks are in the configuration of the appliance. They run after each build, too: --last shows the last run, " +
      "and waits for its end. The exit code is 9 if there is none. OUTCOME not_run means that nothing is known.",
    options: { last: flag("show the last run, and start none") },
    examples: ["kiln check First", "kiln check 31 --last"],
    act: async (kiln, { build, last }) => {
      const id = await buildId(kiln.client, build);
      if (last !== true) await kiln.client.call("runChecks", { build_id: id });
      const run = await untilEnded(kiln, () => lastRun(kiln, id), { waiting: "waiting", begun: "The image boots." });
      if (!run) {
        kiln.show({ check_runs: [] }, () => `${notChecked} ${howToCheck}`);
        return "notFound";
      }
      kiln.show({ check_run: run }, () => shown(kiln, run));
      return exits[run.state];
    },
  }),
];

const exits: Readonly<Record<NonNullable<Run>["state"], Exit>> = {
  passed: "done",
  failed: "unbuildable",
  error: "broken",
  waiting: "done",
  running: "done",
};

export const notChecked = "The checks have not run on this image.";
export const howToCheck = "To run them: `kiln check ID`.";

/** The newest run of the checks on the image of a build. Undefined if there is none. */
export async function lastRun({ client }: Pick<Kiln, "client">, id: number) {
  const { check_runs: runs } = await client.call("listCheckRuns", { build_id: id });
  return runs[0];
}

function shown({ paint }: Kiln, run: NonNullable<Run>): string {
  const rows = run.checks.map((one) => [
    one.outcome,
    one.seconds === undefined ? "" : `${one.seconds} s`,
    one.expected,
  ]);
  const seen = run.checks
    .filter(({ outcome }) => outcome !== "passed")
    .map(({ expected, seen: what = "" }) => `${expected}\n  ${what}`);
  const login = run.login_seconds === undefined ? [] : [`Login after ${run.login_seconds} s.`];
  return [
    table(paint, ["OUTCOME", "AFTER", "CHECK"], rows),
    ...seen.map(visibleLines),
    ...login,
    ...(run.message === undefined ? [] : [visibleLines(run.message)]),
  ].join("\n");
}
