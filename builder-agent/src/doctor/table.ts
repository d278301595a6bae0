import { imageTypes } from "../contract.ts";
import { isPossible, type Check } from "./check.ts";

const colours = { ok: 32, degraded: 33, missing: 31 } as const;
const results = [...imageTypes, "i586", "deb", "testdrives", "sample-distribution"] as const;

/** The report for people: a line per check, the fix below it if it needs one, and at the end what is possible. */
export function formatReport(report: Check[], { colour }: { colour: boolean }): string {
  const width = Math.max(...report.map(({ name }) => name.length));
  const paint = (state: Check["state"], text: string) => (colour ? `\u001B[${colours[state]}m${text}\u001B[0m` : text);
  const lines = report.flatMap((check) => [
    `${paint(check.state, check.state.padEnd(8))}  ${check.name.padEnd(width)}  ${check.detail}`,
    ...(check.fix === "" ? [] : [`${" ".repeat(width + 12)}${remedy(check)}`]),
  ]);
  const possible = results.map((ability) => {
    const can = isPossible(ability, report);
    return `${ability}: ${paint(can ? "ok" : "missing", can ? "possible" : "not possible")}`;
  });
  return [...lines, "", possible.join(", ")].join("\n");
}

function remedy({ disables, fix }: Check): string {
  return disables.length === 0 ? `→ ${fix}` : `→ ${fix}  (without it: no ${disables.join(", ")})`;
}
