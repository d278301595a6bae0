import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { Complaint } from "../complaint.ts";

/** Lets only one process download a file: two would append to the same part. @throws Complaint if another one does */
export function lockDownload(file: string): Disposable {
  const lock = `${file}.lock`;
  if (!create(lock)) {
    const owner = ownerOf(lock);
    if (isRunning(owner)) throw locked(file, lock, owner);
    // Left by a process that was killed.
    rmSync(lock, { force: true });
    if (!create(lock)) throw locked(file, lock, ownerOf(lock));
  }
  return { [Symbol.dispose]: () => rmSync(lock, { force: true }) };
}

function create(lock: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (codeIn(error) === "EEXIST") return false;
    rmSync(lock, { force: true }); // A full disk leaves it empty.
    throw error;
  }
}

/** The process in a lock. Undefined if it is being written, or was removed since. */
function ownerOf(lock: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(lock, "utf8"), 10) || undefined;
  } catch {
    return undefined;
  }
}

/** In containers, a killed process often had the id that this one has. */
function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return true;
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeIn(error) === "EPERM";
  }
}

const codeIn = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

const locked = (file: string, lock: string, owner: number | undefined): Complaint =>
  new Complaint(
    "refused",
    `Another kiln${owner === undefined ? "" : ` (process ${owner})`} is downloading ${file}.`,
    `Wait until it ends, or use another folder: --output. If no other kiln is running, delete ${lock}.`,
  );
