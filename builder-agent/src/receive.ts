import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { writeAll } from "./files.ts";

/** Aborts a transfer if no bytes arrive for too long. */
export function quietLimit(signal: AbortSignal, maxQuietMs = 30_000) {
  const quiet = new AbortController();
  const abort = () => quiet.abort(new DOMException(`nothing arrived for ${maxQuietMs / 1000} seconds`, "TimeoutError"));
  let timer = setTimeout(abort, maxQuietMs);
  const end = () => clearTimeout(timer);
  return {
    signal: AbortSignal.any([signal, quiet.signal]),
    heard() {
      clearTimeout(timer);
      timer = setTimeout(abort, maxQuietMs);
    },
    end,
    [Symbol.dispose]: end,
  };
}

type Body = AsyncIterable<Uint8Array> | null;

interface Receiving {
  /** Called with the number of bytes so far, before the last of them are written. If it throws, the transfer ends. */
  onBytes?: (size: number) => void;
  /** The digest's algorithm. */
  type?: string;
  flags?: string;
  mode?: number;
}

/** Writes a body to a file. Returns its digest as hex. */
export async function receive(body: Body, into: string, options: Receiving = {}): Promise<string> {
  const { onBytes, type = "sha256", flags = "w", mode = 0o644 } = options;
  await using file = await open(into, flags, mode);
  const digest = createHash(type);
  let size = 0;
  for await (const bytes of body ?? []) {
    onBytes?.(size + bytes.length);
    await writeAll(file, bytes, size);
    digest.update(bytes);
    size += bytes.length;
  }
  return digest.digest("hex");
}

/** Reads a small body. Undefined if it has more than `maxBytes`. */
export async function collect(body: Body, maxBytes: number, onBytes?: () => void): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of body ?? []) {
    onBytes?.();
    if ((size += bytes.length) > maxBytes) return undefined;
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}
