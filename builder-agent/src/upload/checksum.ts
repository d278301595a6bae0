import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { partBytes } from "../contract.ts";

export interface Digests {
  size: number;
  md5: string;
  sha1: string;
  sha256: string;
  /** SHA-256 of each part, in order. */
  parts: string[];
}

export async function digestsOfFile(path: string, signal: AbortSignal): Promise<Digests> {
  const digests = openDigests();
  for await (const bytes of createReadStream(path, { signal, highWaterMark: 1024 * 1024 })) digests.take(bytes);
  return digests.result();
}

/** Computes all digests of a file in one pass: `take` its bytes, then get the `result`. */
export function openDigests(bytesPerPart = partBytes) {
  const whole = { md5: createHash("md5"), sha1: createHash("sha1"), sha256: createHash("sha256") };
  const parts: string[] = [];
  let part = createHash("sha256");
  let size = 0;

  const take = (bytes: Buffer) => {
    for (const hash of Object.values(whole)) hash.update(bytes);
    for (let rest = bytes; rest.length > 0;) {
      const room = bytesPerPart - (size % bytesPerPart);
      const now = rest.subarray(0, room);
      part.update(now);
      size += now.length;
      rest = rest.subarray(now.length);
      if (size % bytesPerPart === 0) endPart();
    }
  };
  const endPart = () => {
    parts.push(part.digest("hex"));
    part = createHash("sha256");
  };

  return {
    take,
    /** The digests of the complete parts so far. */
    parts: parts as readonly string[],
    /** Call it once, at the end. */
    result(): Digests {
      if (size % bytesPerPart !== 0) endPart();
      const [md5, sha1, sha256] = [whole.md5.digest("hex"), whole.sha1.digest("hex"), whole.sha256.digest("hex")];
      return { size, md5, sha1, sha256, parts };
    },
  };
}

/** `partsDigest` of the contract: SHA-256 over the parts' hex digests, joined by newlines. */
export const digestOfParts = (parts: readonly string[]): string =>
  createHash("sha256").update(parts.join("\n")).digest("hex");
