import { open, type FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openLines } from "../lines.ts";

/**
 * Reads the lines of a file that another process writes, as they arrive. The file need not exist yet. (KIWI's
 * standard output cannot be used: its progress bar is mixed into the lines.)
 */
export function followFile(path: string, onLine: (line: string) => void, everyMs = 200) {
  const ending = new AbortController();
  const reading = follow(path, onLine, { everyMs, signal: ending.signal });
  return {
    /** Reads the rest and stops. */
    async end(): Promise<void> {
      ending.abort();
      await reading;
    },
  };
}

async function follow(path: string, onLine: (line: string) => void, until: { everyMs: number; signal: AbortSignal }) {
  const lines = openLines(onLine);
  let file: FileHandle | undefined;
  try {
    for (;;) {
      const isLast = until.signal.aborted;
      file ??= await open(path).catch(() => undefined);
      if (file !== undefined) await readRest(file, lines.take);
      if (isLast) break;
      await sleep(until.everyMs, undefined, { signal: until.signal }).catch(() => {});
    }
    lines.end();
  } finally {
    await file?.close();
  }
}

async function readRest(file: FileHandle, take: (bytes: Buffer) => Promise<void>): Promise<void> {
  const buffer = Buffer.alloc(64 * 1024);
  for (;;) {
    const { bytesRead } = await file.read(buffer);
    if (bytesRead === 0) return;
    await take(buffer.subarray(0, bytesRead));
  }
}
