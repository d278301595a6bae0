import type { Use } from "./meter.ts";
import { names, type Name } from "./scenarios.ts";
import type { Measured } from "./services.ts";

/** The names of the counted amounts on the page, in column order. */
export const columns = {
  requests: "Requests",
  queries: "D1 queries",
  rowsRead: "Rows read",
  rowsWritten: "Rows written",
  calls: "Requests to objects",
  objectRows: "Rows in objects",
  r2Writes: "R2 writes",
  r2Reads: "R2 reads",
  messages: "Messages",
} as const satisfies Record<keyof Use, string>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the constants above
export const keysOf = <Key extends string>(of: Readonly<Record<Key, unknown>>) => Object.keys(of) as Key[];

/**
 * Counts that vary on a busy machine. A page waits only for a limited time until an appliance's status is examined, so
 * the examination may happen in the next scenario. Scenarios also poll until something has happened.
 */
const ofBusyMachine: Partial<Use> = { requests: 2, calls: 2, queries: 5, rowsRead: 25, rowsWritten: 2, r2Reads: 2 };
const share = 0.1;

/** Returns the measured values, except that a value close to the page's number becomes that number. */
export function settled(measured: Measured, page: string): Measured {
  const written = numbersOf(page);
  const settle = (name: Name, { ...use }: Use) => {
    const row = written.get(names[name]) ?? [];
    for (const [column, of] of keysOf(columns).entries()) use[of] = closer(use[of], row[column], of);
    return use;
  };
  const all: Record<Name, Use> = { ...measured };
  for (const name of keysOf<Name>(names)) all[name] = settle(name, measured[name]);
  return all;
}

function closer(number: number, written: number | undefined, of: keyof Use): number {
  // The page has at most four decimals, and everything else is computed from the page's numbers.
  const rounded = Math.round(number * 10_000) / 10_000;
  if (written === undefined) return rounded;
  // Messages are counted exactly: each chore with its own message costs 0.05 dollars a month.
  const allowed = of === "messages" ? 0 : Math.max(ofBusyMachine[of] ?? 0, share * written);
  return Math.abs(rounded - written) <= allowed ? written : rounded;
}

/** The numbers of the page's first table, by the name of their row. */
function numbersOf(page: string): Map<string, number[]> {
  const [, table = ""] = /<!-- made by a test: measured -->([^]*?)<!-- end -->/.exec(page) ?? [];
  const rows = table.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map(([name = "", ...cells]) => [name, cells.map((cell) => Number(cell.replaceAll(",", "")))]));
}
