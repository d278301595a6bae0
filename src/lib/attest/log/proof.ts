import { Buffer } from "node:buffer";
import { readCheckpoint, type Checkpoint } from "./checkpoint.ts";
import { leafHash, rootFromInclusion } from "./tree.ts";

/** The entry of an image: two digests, and nothing that identifies its owner. Both are SHA-256 in hex. */
export interface LoggedImage {
  image: string;
  /** The digest of the provenance's statement, which is the payload of its envelope. */
  statement: string;
}

/** The bytes of an entry. The same image has the same entry. */
export const entryOf = ({ image, statement }: LoggedImage): string =>
  `${JSON.stringify({ type: "kiln-image-v1", image, statement })}\n`;

/** The proof that a log has an entry (c2sp.org/tlog-proof). */
export interface LogProof {
  position: number;
  hashes: readonly Buffer[];
  /** The signed checkpoint, as the log published it. */
  note: string;
}

/** The proof of an image is a file next to it: the image's name followed by this. */
export const proofSuffix = ".tlog-proof";

const header = "c2sp.org/tlog-proof@v1";

export const writeProof = ({ position, hashes, note }: LogProof): string =>
  [header, `index ${position}`, ...hashes.map((hash) => hash.toString("base64")), "", note].join("\n");

/** Undefined if the text is not a proof. */
export function readProof(text: string): LogProof | undefined {
  const end = text.indexOf("\n\n");
  const [first, index = "", ...lines] = text.slice(0, Math.max(0, end)).split("\n");
  const position = /^index (0|[1-9]\d{0,14})$/.exec(index)?.[1];
  const hashes = lines.map((line) => Buffer.from(line, "base64"));
  if (first !== header || position === undefined || hashes.some(({ length }) => length !== 32)) return undefined;
  return { position: Number(position), hashes, note: text.slice(end + 2) };
}

/** The checkpoint, if the proof shows that it contains the entry. Otherwise undefined. Checks no signature. */
export function provenCheckpoint(entry: string, { position, hashes, note }: LogProof): Checkpoint | undefined {
  const checkpoint = readCheckpoint(note);
  if (!checkpoint) return undefined;
  const root = rootFromInclusion({ position, size: checkpoint.size }, leafHash(entry), hashes);
  return root?.equals(checkpoint.root) ? checkpoint : undefined;
}
