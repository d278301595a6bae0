import { checkKinds, checkRunStates, machineKeptUntil, outcomes, sentenceOfCheck } from "#lib/contract/index";
import type { CheckRun } from "#storage/check-runs";
import { arrayOf, bool, fields, id, inside, int, lines, oneOf, text, through, time } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** A check, and its result if the run has ended. */
interface Shown {
  check: CheckRun["checks"][number];
  result: NonNullable<CheckRun["results"]>[number] | undefined;
}

const check = fields({
  ...through("check", { kind: oneOf("kind", checkKinds, "port_open") }),
  expected: text(({ check }: Shown) => sentenceOfCheck(check), "Port 80 accepts connections within 300 s."),
  outcome: oneOf(({ result }: Shown) => result?.outcome, outcomes, "failed").when(hasResult),
  seen: text(({ result }: Shown) => result?.seen, "The machine refused the connection.").when(hasResult),
  seconds: int(({ result }: Shown) => Math.round(result?.seconds ?? 0), 300).when(hasResult),
});

function hasResult({ result }: Shown): boolean {
  return result !== undefined;
}

const checksOf = ({ checks, results }: CheckRun): Shown[] =>
  checks.map((check, index) => ({ check, result: results?.[index] }));

const facts = fields({
  id: id("id", 5),
  build_id: id("buildId", 31),
  state: oneOf("state", checkRunStates, "failed"),
  message: text("message", "The builder agent that ran it can no longer be reached.").unlessEmpty(),
  created_at: time("createdAt", "2026-03-04T16:25:01Z"),
  ended_at: time("endedAt", "2026-03-04T16:30:40Z").optional(),
  login_seconds: int(({ loginSeconds }: CheckRun) => loginSeconds && Math.round(loginSeconds), 14).optional(),
  emulated: bool("isEmulated", false).optional(),
  machine_kept_until: time(machineKeptUntil, "2026-03-05T16:30:40Z").optional(),
  checks: inside(checksOf, arrayOf("check", check)),
  console: lines("console", "Welcome to Tiny Linux\ntiny login:").unlessEmpty(),
});

export const checkRun = document("CheckRun", "check_run", facts);
export const checkRuns = document("CheckRuns", "check_runs", arrayOf("check_run", facts));
