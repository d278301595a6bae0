import { createHash } from "node:crypto";

export interface Digests {
  size: number;
  md5: string;
  sha1: string;
  sha256: string;
  /** SHA-256 of each part, in order. */
  parts: string[];
}

/** All digests of a file in one pass: `take` its bytes or put `through` into a pipeline, then ask for the `result`. */
export function openDigests(partBytes: number) {
  const whole = { md5: createHash("md5"), sha1: createHash("sha1"), sha256: createHash("sha256") };
  const parts: string[] = [];
  let part = createHash("sha256");
  let size = 0;

  const take = (bytes: Buffer) => {
    for (const hash of Object.values(whole)) hash.update(bytes);
    for (let rest = bytes; rest.length > 0;) {
      const room = partBytes - (size % partBytes);
      const now = rest.subarray(0, room);
      part.update(now);
      size += now.length;
      rest = rest.subarray(now.length);
      if (size % partBytes === 0) endPart();
    }
  };
  const endPart = () => {
    parts.push(part.digest("hex"));
    part = createHash("sha256");
  };

  return {
    take,
    /** Those of the parts that are whole so far. */
    parts: parts as readonly string[],
    async *through(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const bytes of source) {
        take(bytes);
        yield bytes;
      }
    },
    /** Once, at the end. */
    result(): Digests {
      if (size % partBytes !== 0) endPart();
      const [md5, sha1, sha256] = [whole.md5.digest("hex"), whole.sha1.digest("hex"), whole.sha256.digest("hex")];
      return { size, md5, sha1, sha256, parts };
    },
  };
}

/** `partsDigest` of the contract: SHA-256 over the parts' hex digests, joined by newlines. */
export const digestOfParts = (parts: readonly string[]): string =>
  createHash("sha256").update(parts.join("\n")).digest("hex");
