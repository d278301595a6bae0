import { Refusal } from "#domain/refusal";
import { logFailure } from "#log/log";

/**
 * If everything runs on one machine, `DISK` is the launcher, which answers 507 while the disk of the state directory is
 * full.
 */
type DiskEnv = Pick<Env, "DISK">;

const fullDiskMessage =
  "The disk of the service is full. You can still read everything, but nothing can be changed or built until the operator frees space.";

export const diskIsFull = () => new Refusal("read_only_mode_active", { message: fullDiskMessage });

/** Whether nothing more may be stored. The disk space that remains is for what read requests write themselves. */
export async function hasFullDisk({ DISK }: DiskEnv): Promise<boolean> {
  if (!DISK) return false;
  try {
    return (await DISK.fetch("http://disk/")).status === 507;
  } catch (error) {
    logFailure("the free disk space is not known", error);
    return false;
  }
}

/** Whether a statement failed because the disk was full. */
export const isOfFullDisk = (error: unknown): boolean =>
  error instanceof Error && (/\bSQLITE_FULL\b/.test(error.message) || isOfFullDisk(error.cause));

const logEveryMs = 60_000;
let logsAt = -Infinity;

/**
 * Stores something that a read records as a side effect. If that fails, the read continues, and one log line per minute
 * reports it.
 */
export async function noteInPassing<T>(what: string, note: () => Promise<T>): Promise<T | undefined> {
  try {
    return await note();
  } catch (error) {
    if (Date.now() < logsAt) return undefined;
    logsAt = Date.now() + logEveryMs;
    logFailure(`could not record ${what}`, error);
    return undefined;
  }
}
