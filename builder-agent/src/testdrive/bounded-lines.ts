import { createInterface, type Interface } from "node:readline";
import type { Readable } from "node:stream";

/** A line of QEMU has a few kilobytes. */
const maxBytes = 1024 * 1024;

/**
 * The lines of a program that an untrusted user may have taken over. Destroys the stream when a line is too long,
 * because `readline` collects a line without a limit.
 */
export function boundedLines(input: Readable): Interface {
  let bytes = 0;
  input.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf("\n");
    bytes = end === -1 ? bytes + chunk.length : chunk.length - end - 1;
    if (bytes > maxBytes) input.destroy();
  });
  return createInterface({ input });
}
