import { nodesInTiles } from "./tiles.ts";
import { consistencyProof, isConsistent, type TreeHead } from "./tree.ts";

/**
 * Whether the log of the newer checkpoint begins with exactly the entries of the older one, according to the tiles that
 * `read` fetches. Tiles that do not match the checkpoints prove nothing, so the result is then false.
 */
export async function continues(
  older: TreeHead,
  newer: TreeHead,
  read: (path: string) => Promise<Uint8Array>,
): Promise<boolean> {
  if (older.size > newer.size) return false;
  return isConsistent(older, newer, await consistencyProof(older.size, newer.size, nodesInTiles(newer.size, read)));
}
