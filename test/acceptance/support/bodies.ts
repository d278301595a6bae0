import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Wire } from "./wire.ts";

const sampleFolder = process.env["KILN_SAMPLE_DISTRIBUTION"];
if (sampleFolder === undefined) throw new Error("KILN_SAMPLE_DISTRIBUTION names no folder");

export const rpm = readFileSync(join(sampleFolder, "main/hello-lang-1.0-1.noarch.rpm"));

/** As large as a large package, but not a package. */
export const large = Buffer.alloc(20 * 1024 * 1024, "x");

export const slices = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

/** Sends a body in chunks, with a pause after each. */
export async function sendChunks(wire: Wire, chunks: (string | Uint8Array)[], pauseMs = 0): Promise<void> {
  for (const chunk of chunks) {
    await wire.send(`${Buffer.byteLength(chunk).toString(16)}\r\n`);
    await wire.send(chunk);
    await wire.send("\r\n");
    await sleep(pauseMs);
  }
  await wire.send("0\r\n\r\n");
}
