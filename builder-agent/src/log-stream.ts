import { open, type FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { maxLogChunkBytes, type LogAnswer } from "./contract.ts";

export interface LogStream {
  write(line: string): void;
  /** Sends the remaining lines. Drops later ones. */
  close(): Promise<void>;
}

export interface LogStreamOptions {
  /** Lines are written here first, so that a slow Worker costs disk and not memory. */
  file: string;
  /** Returns the next offset, and whether the log is being read. It retries on its own, so an error is final. */
  send: (offset: number, bytes: Uint8Array<ArrayBuffer>) => Promise<LogAnswer>;
  onFailure: (error: unknown) => void;
  everyMs?: number;
}

/** The log is sent this many times less often while no one reads it, because each chunk costs a request and rows. */
const unwatchedTimes = 5;

/** Sends lines in chunks, every second while the log is read. The Worker's answer contains the next offset. */
export async function openLogStream({ file, send, onFailure, everyMs = 1000 }: LogStreamOptions): Promise<LogStream> {
  const spool = await openSpool(file, onFailure);
  const closing = new AbortController();
  let sent = 0;
  let isWatched = true;

  const sendWritten = async () => {
    while (sent < spool.size()) {
      const { nextOffset: next, watched } = await send(sent, await spool.chunkAt(sent));
      isWatched = watched === true;
      const isStuck = next <= sent;
      sent = next; // the Worker may lack bytes that were sent before
      if (isStuck) return;
    }
  };
  const loop = (async () => {
    while (!closing.signal.aborted) {
      await sendWritten().catch(onFailure);
      await sleep(isWatched ? everyMs : unwatchedTimes * everyMs, undefined, { signal: closing.signal }).catch(
        () => {},
      );
    }
  })();

  return {
    write(line) {
      if (!closing.signal.aborted) spool.append(`${line}\n`);
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await loop;
      await spool.written();
      await sendWritten().catch(onFailure);
      await spool.close();
    },
  };
}

/** Slightly more than the Worker stores, so that the Worker notes where the log was cut. */
const maxBytes = 65 * 1024 * 1024;

/** The file between writer and sender. Text that is appended during a write goes into the next write. */
async function openSpool(file: string, onFailure: (error: unknown) => void) {
  const handle = await open(file, "a+");
  let pending = "";
  let writing: Promise<void> | undefined;
  let size = 0;
  let taken = 0;
  const writePending = async () => {
    while (pending !== "") {
      const bytes = Buffer.from(pending);
      pending = "";
      await handle.appendFile(bytes);
      size += bytes.length;
    }
  };
  return {
    size: () => size,
    append(text: string): void {
      if (taken > maxBytes) return;
      taken += text.length;
      pending += text;
      writing ??= writePending()
        .catch(onFailure)
        .finally(() => (writing = undefined));
    },
    written: async () => await writing,
    chunkAt: (from: number) => chunkAt(handle, from, size),
    close: () => handle.close(),
  };
}

/** Ends the chunk at the end of a line, or at the last byte, so that no chunk ends in the middle of a character. */
async function chunkAt(spool: FileHandle, from: number, end: number) {
  const { buffer, bytesRead } = await spool.read(Buffer.alloc(Math.min(maxLogChunkBytes, end - from)), {
    position: from,
  });
  const bytes = buffer.subarray(0, bytesRead);
  const lastLine = bytes.lastIndexOf("\n") + 1;
  return from + bytesRead < end && lastLine > 0 ? bytes.subarray(0, lastLine) : bytes;
}
