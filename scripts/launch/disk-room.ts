import { statfsSync } from "node:fs";
import { Response } from "miniflare";
import type { Control } from "./control.ts";
import { warn } from "./progress.ts";

/** Below this the service refuses changes. The rest is for what it writes on its own: rows, logs of builds, imports. */
const reservedBytes = 200 * 1024 * 1024;

/** Answers the Worker whether the disk of the state directory has room, and tells the terminal when that changes. */
export function diskRoom(stateDirectory: string, reserved = reservedBytes): () => Response {
  let wasFull = false;
  return () => {
    const { bavail, bsize } = statfsSync(stateDirectory);
    const isFull = bavail * bsize < reserved;
    if (isFull !== wasFull)
      warn(isFull ? `The disk of ${stateDirectory} is full. Changes are refused.` : "The disk has room again.");
    wasFull = isFull;
    return new Response(null, { status: isFull ? 507 : 204 });
  };
}

/** Three of them are more than 1000 pages. */
const pieceBytes = 1_500_000;

/**
 * Lets the database be read while its disk has not one free byte. The simulated D1 writes a page with each query, also of a read,
 * into the write-ahead log, which SQLite starts over after 1000 pages. So this lets it grow to that size at the start. The pages
 * that it frees in the database are room for the few rows that the service writes until someone has made room.
 */
export async function reserveRoom({ batch }: Pick<Control, "batch">): Promise<void> {
  const drop = { sql: "DROP TABLE IF EXISTS reserved_room", values: [] };
  const create = { sql: "CREATE TABLE reserved_room (bytes BLOB)", values: [] };
  const fill = { sql: "INSERT INTO reserved_room VALUES (zeroblob(?))", values: [pieceBytes] };
  try {
    await batch([drop, create, fill, fill, fill]);
    await batch([drop]);
  } catch {
    warn("There is no room on the disk of the state directory for the database's reserve.");
  }
}
