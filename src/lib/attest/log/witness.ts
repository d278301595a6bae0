import { Buffer } from "node:buffer";
import { isSignedBy, readCheckpoint, type Checkpoint } from "./checkpoint.ts";
import type { NamedKey } from "./note.ts";
import { emptyRoot, isConsistent } from "./tree.ts";

/* How a log asks a witness for a cosignature, and how a witness decides (c2sp.org/tlog-witness). */

/** A new checkpoint, and the proof that it continues the one that the witness has seen last. */
export interface Submission {
  /** The size of the checkpoint that the witness has seen last. */
  old: number;
  proof: readonly Buffer[];
  note: string;
}

const mostHashes = 63;

export const writeSubmission = ({ old, proof, note }: Submission): string =>
  [`old ${old}`, ...proof.map((hash) => hash.toString("base64")), "", note].join("\n");

/** Undefined if the text is not a submission. */
export function readSubmission(text: string): Submission | undefined {
  const end = text.indexOf("\n\n");
  const [first = "", ...lines] = text.slice(0, Math.max(0, end)).split("\n");
  const old = /^old (0|[1-9]\d{0,14})$/.exec(first)?.[1];
  const proof = lines.map((line) => Buffer.from(line, "base64"));
  if (old === undefined || proof.length > mostHashes || proof.some(({ length }) => length !== 32)) return undefined;
  return { old: Number(old), proof, note: text.slice(end + 2) };
}

/** Why a witness does not cosign. `size` is that of the checkpoint that it has seen last, if the log must know it. */
export interface Objection {
  status: 400 | 403 | 404 | 409 | 422;
  why: string;
  size?: number;
}

/**
 * Decides whether to cosign the checkpoint of a submission.
 * @param logs the keys of the logs that the witness knows
 * @param seen returns the checkpoint of a log that the witness has cosigned last
 */
export function judge(
  { old, proof, note }: Submission,
  logs: readonly NamedKey[],
  seen: (origin: string) => Checkpoint | undefined,
): Checkpoint | Objection {
  const checkpoint = readCheckpoint(note);
  if (!checkpoint) return { status: 400, why: "This is not a checkpoint." };
  const { origin, size } = checkpoint;
  const keys = logs.filter(({ name, type }) => name === origin && type === "log").map(({ key }) => key);
  if (keys.length === 0) return { status: 404, why: `This witness does not know the log ${origin}.` };
  if (!isSignedBy(note, keys)) return { status: 403, why: `The checkpoint is not signed by the log ${origin}.` };
  if (old > size) return { status: 400, why: "The old size is larger than the new one." };
  const last = seen(origin) ?? { size: 0, root: emptyRoot };
  if (old !== last.size)
    return { status: 409, why: `The log had ${last.size} entries when it was last cosigned.`, size: last.size };
  const isWhole = size > 0 || checkpoint.root.equals(emptyRoot);
  if (isWhole && isConsistent(last, checkpoint, proof)) return checkpoint;
  return { status: 422, why: `The proof does not show that the log continues its first ${last.size} entries.` };
}
