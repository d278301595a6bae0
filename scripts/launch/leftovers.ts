import { readFileSync } from "node:fs";
import { end, ownLine, processes } from "./process-tree.ts";

/** An environment variable of every process that a launcher starts. Its value is the state directory. */
export const childMark = "KILN_CHILD_OF";
const graceMs = 5_000;

/** Ends processes of this state directory's launcher that survived it, and returns their number. */
export async function endLeftovers(stateDirectory: string): Promise<number> {
  const left = marked(stateDirectory);
  await end(left, graceMs);
  return left.length;
}

/** The running processes that a launcher of this state directory started, directly or not. */
export function marked(stateDirectory: string): number[] {
  const ours = ownLine();
  return processes()
    .filter((each) => each.state !== "Z" && !ours.has(each.pid))
    .map((each) => each.pid)
    .filter((pid) => environment(pid).includes(`${childMark}=${stateDirectory}`));
}

function environment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // another user's, or ended
  }
}
