import { createHash } from "node:crypto";
import { RepodataFault } from "./fault.ts";

/** Digest types of repository metadata, with the length of their hex form. Old metadata calls sha1 "sha". */
const hexLengths = { md5: 32, sha1: 40, sha224: 56, sha256: 64, sha384: 96, sha512: 128 } as const;
export type ChecksumType = keyof typeof hexLengths;
export interface Checksum {
  type: ChecksumType;
  hex: string;
}

/** Parses a checksum as metadata writes it: in any case, with `sha` for sha1. */
export function parseChecksum(type: string, hex: string): Checksum {
  const lower = type.trim().toLowerCase();
  const known = lower === "sha" ? "sha1" : lower;
  if (!isChecksumType(known))
    throw new RepodataFault("unsupported_format", `unknown checksum type ${JSON.stringify(type)}`);
  const digits = hex.trim().toLowerCase();
  if (digits.length !== hexLengths[known] || !/^[0-9a-f]+$/.test(digits)) {
    throw new RepodataFault("malformed_metadata", `not a ${known} checksum: ${JSON.stringify(hex.slice(0, 140))}`);
  }
  return { type: known, hex: digits };
}

const isChecksumType = (type: string): type is ChecksumType => Object.hasOwn(hexLengths, type);

/** The digest of a short document. */
export const hexDigest = (type: ChecksumType, bytes: Uint8Array): string =>
  createHash(type).update(bytes).digest("hex");

/** Passes bytes through, and fails at the end if their checksum is wrong. `what` names them in the message. */
export function verified(expected: Checksum, what: string): TransformStream<Uint8Array, Uint8Array> {
  const hash = createHash(expected.type);
  return new TransformStream({
    transform(chunk, controller) {
      hash.update(chunk);
      controller.enqueue(chunk);
    },
    flush() {
      const actual = hash.digest("hex");
      if (actual === expected.hex) return;
      throw new RepodataFault("checksum_mismatch", `${what}: ${expected.type} is ${actual}, expected ${expected.hex}`);
    },
  });
}
