import { readFileSync } from "node:fs";
import { end, ownLine, processes } from "./process-tree.ts";

/** In the environment of everything that a launcher starts, with its state directory as value. */
export const childMark = "KILN_CHILD_OF";
const graceMs = 5_000;

/** Ends what a launcher of this state directory left when it was killed; gives how many processes that were. */
export async function endLeftovers(stateDirectory: string): Promise<number> {
  const left = marked(stateDirectory);
  await end(left, graceMs);
  return left.length;
}

/** The living processes that a launcher of this state directory started, at whatever depth. */
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
    return []; // somebody else's, or gone
  }
}
