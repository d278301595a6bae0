import type { ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import { openLines } from "../lines.ts";

/** One of the outputs of a guest. */
export type Pipe = ChildProcess["stdio"][number] | undefined;

/** Reads the lines of a pipe. It reads to the end, but drops bytes after `maxBytes`. */
export async function eachLine(from: Pipe, maxBytes: number, onLine: (line: string) => void) {
  const lines = openLines(onLine);
  let left = maxBytes;
  await eachChunk(from, async (bytes) => {
    await lines.take(bytes.subarray(0, left));
    if (left > 0 && bytes.length > left) await lines.take(Buffer.from("\n(the rest is dropped)\n"));
    left = Math.max(0, left - bytes.length);
  });
  lines.end();
}

export async function eachChunk(from: Pipe, take: (bytes: Buffer) => void | Promise<void>) {
  if (!(from instanceof Readable)) throw new Error("a pipe of the guest is missing");
  try {
    for await (const chunk of from) await take(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  } catch (error) {
    // The other side of the socket was killed.
    if (!(error instanceof Error && "code" in error && error.code === "ECONNRESET")) throw error;
  }
}
