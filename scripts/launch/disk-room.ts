import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Response } from "miniflare";
import type { Control } from "./control.ts";
import { warn } from "./progress.ts";

/**
 * With less free space, the service refuses changes. The reserve is for the service's own writes: rows, logs of builds.
 */
const reservedBytes = 200 * 1024 * 1024;

/** How often the free space is checked. The runtime closes a database that is idle for 10 s. */
const checkEveryMs = 2_000;

/**
 * A file that is deleted when other programs have filled the disk, because each object that wakes needs some space for
 * its database.
 */
const ballastBytes = 16 * 1024 * 1024;
const nearlyNothing = 4 * 1024 * 1024;

/** Three pieces are more than 1000 pages. */
const pieceBytes = 1_500_000;

/** The free space on the disk of the state directory. */
export class DiskRoom {
  readonly #stateDirectory: string;
  readonly #reserved: number;
  #wasFull = false;
  #isHeld = false;

  constructor(stateDirectory: string, reserved = reservedBytes) {
    this.#stateDirectory = stateDirectory;
    this.#reserved = reserved;
  }

  /** Also warns on the terminal when this changes. */
  isFull(): boolean {
    const isFull = this.#freeBytes() < this.#reserved;
    if (isFull !== this.#wasFull)
      warn(isFull ? `The disk of ${this.#stateDirectory} is full. Changes are refused.` : "The disk has room again.");
    this.#wasFull = isFull;
    return isFull;
  }

  #freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#stateDirectory);
    return bavail * bsize;
  }

  /** The answer to the Worker's binding `DISK`. */
  readonly answer = (): Response => new Response(null, { status: this.isFull() ? 507 : 204 });

  /** Checks the free space from now on, and keeps the service readable when there is none. */
  async watch(control: Pick<Control, "batch">): Promise<NodeJS.Timeout> {
    let isChecking = false;
    const check = async () => {
      if (isChecking) return;
      isChecking = true;
      try {
        this.#keepBallast();
        await this.#hold(control);
      } catch (error) {
        warn(`The room on the disk cannot be checked: ${String(error)}`);
      } finally {
        isChecking = false;
      }
    };
    await check();
    return setInterval(() => void check(), checkEveryMs);
  }

  #keepBallast(): void {
    const file = join(this.#stateDirectory, "ballast");
    const free = this.#freeBytes();
    if (free < nearlyNothing) rmSync(file, { force: true });
    else if (free > this.#reserved + ballastBytes && !existsSync(file)) writeFileSync(file, Buffer.alloc(ballastBytes));
  }

  /**
   * Keeps the database readable when its disk has no free byte. With each query, even a read, the simulated D1 writes a
   * page into the write-ahead log, which SQLite reuses from the start after 1000 pages. So this makes the log grow to
   * that size, and keeps it by regular queries, because the log of an idle database is deleted. The freed pages of the
   * database have room for the few rows that the service writes.
   */
  async #hold({ batch }: Pick<Control, "batch">): Promise<void> {
    const wasHeld = this.#isHeld;
    if (!(this.#isHeld = this.isFull())) return;
    try {
      if (wasHeld) await batch([{ sql: "SELECT 1", values: [] }]);
      else await growLog(batch);
    } catch {
      // The database has been reopened without its log. After a failed first try, the log uses whatever space is left.
      this.#isHeld = !wasHeld;
    }
  }
}

async function growLog(batch: Control["batch"]): Promise<void> {
  const drop = { sql: "DROP TABLE IF EXISTS reserved_room", values: [] };
  const create = { sql: "CREATE TABLE reserved_room (bytes BLOB)", values: [] };
  const fill = { sql: "INSERT INTO reserved_room VALUES (zeroblob(?))", values: [pieceBytes] };
  await batch([drop, create, fill, fill, fill]);
  await batch([drop]);
}
