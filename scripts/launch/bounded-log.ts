import { appendFileSync, chmodSync, copyFileSync, openSync, statSync, truncateSync } from "node:fs";

const largestBytes = 8 * 1024 * 1024;
const lookEveryMs = 60_000;

/**
 * A log file that stays below about twice its largest size: the older part is kept as PATH.1. It is emptied in place,
 * because a process that writes to it (through `descriptor`, opened for appending) must not lose it.
 */
export function openBoundedLog(path: string): { descriptor: number; append(line: string): void; close(): void } {
  const descriptor = openSync(path, "a", 0o600);
  chmodSync(path, 0o600);
  const bound = () =>
    orSkip(() => {
      if (statSync(path).size <= largestBytes) return;
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
    });
  bound();
  const timer = setInterval(bound, lookEveryMs);
  return {
    descriptor,
    append: (line) => orSkip(() => appendFileSync(descriptor, `${new Date().toISOString()} ${line}\n`)),
    close: () => clearInterval(timer),
  };
}

/** A full disk, or a log file that was deleted, costs lines of the log. It must not end the service. */
function orSkip(work: () => void): void {
  try {
    work();
  } catch {
    // There is nowhere left to say so.
  }
}
