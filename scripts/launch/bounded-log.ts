import { appendFileSync, chmodSync, copyFileSync, openSync, statSync, truncateSync } from "node:fs";

const maxBytes = 8 * 1024 * 1024;
const checkEveryMs = 60_000;

/**
 * A log file that stays below about twice its limit. The older part is moved to PATH.1. The file is truncated in place,
 * because a process writes to it through `descriptor`, which is opened for appending.
 */
export function openBoundedLog(path: string): { descriptor: number; append(line: string): void; close(): void } {
  const descriptor = openSync(path, "a", 0o600);
  chmodSync(path, 0o600);
  const bound = () =>
    orSkip(() => {
      if (statSync(path).size <= maxBytes) return;
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
    });
  bound();
  const timer = setInterval(bound, checkEveryMs);
  return {
    descriptor,
    append: (line) => orSkip(() => appendFileSync(descriptor, `${new Date().toISOString()} ${line}\n`)),
    close: () => clearInterval(timer),
  };
}

/** A full disk or a deleted log file may lose lines, but must not end the service. */
function orSkip(work: () => void): void {
  try {
    work();
  } catch {
    // There is nowhere left to report it.
  }
}
