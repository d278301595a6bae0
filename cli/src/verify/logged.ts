import { basename } from "node:path";
import { readIfThere } from "../files.ts";
import {
  entryOf,
  isSignedBy,
  proofSuffix,
  provenCheckpoint,
  readCheckpoint,
  readProof,
  type Checkpoint,
  type LoggedImage,
} from "../image-log.ts";
import type { PinnedKey } from "../login/login.ts";
import { unverified } from "./envelope.ts";
import { keptCheckpoints } from "./kept-checkpoints.ts";

/** The place of an image in the public log of a service. */
export interface Logged {
  /** The name of the log. */
  log: string;
  position: number;
  /** The number of entries in the checkpoint that the proof leads to. */
  size: number;
  /** The witnesses that have cosigned it, if any were requested. */
  cosigned_by?: string[];
}

/** Checks the proof next to an image, offline. Undefined if there is none. */
export function verifyProof(file: string, image: LoggedImage, keys: readonly PinnedKey[]): Logged | undefined {
  const text = readIfThere(file + proofSuffix)?.toString("utf8");
  if (text === undefined) return undefined;
  const name = basename(file + proofSuffix);
  const proof = readProof(text);
  if (!proof) throw unverified(`${name} is damaged.`, "Download the image again.");
  const checkpoint = provenCheckpoint(entryOf(image), proof);
  if (!checkpoint)
    throw unverified(
      `${name} does not prove that the public log has this image.`,
      "Do not use the image. Tell the operator of the service.",
    );
  signedCheckpoint(proof.note, keys);
  refuseOtherRoot(checkpoint);
  const { origin: log, size } = checkpoint;
  return { log, position: proof.position, size };
}

/** The checkpoint in the proof next to an image. */
export const noteNextTo = (file: string): string =>
  readProof(readIfThere(file + proofSuffix)?.toString("utf8") ?? "")?.note ?? "";

/** Reads a checkpoint that one of these keys must have signed. */
export function signedCheckpoint(note: string, keys: readonly PinnedKey[]): Checkpoint {
  const checkpoint = readCheckpoint(note);
  if (!checkpoint) throw unverified("The checkpoint of the public log is damaged.", "Try again.");
  if (isSignedBy(note, keys)) return checkpoint;
  throw unverified(
    `The checkpoint of the log ${checkpoint.origin} is not signed with a key that you trust.`,
    "If the operator of the service confirms a new key, run `kiln login ADDRESS --trust-key KEY`.",
  );
}

/** Two checkpoints of the same log and size must be equal. Others can only be compared with the log's tiles. */
function refuseOtherRoot({ origin, size, root }: Checkpoint): void {
  const other = keptCheckpoints().find(
    (kept) => kept.origin === origin && kept.size === size && !kept.root.equals(root),
  );
  if (other) throw forked(`The log ${origin} showed you a different history of the same ${size} entries before.`);
}

export const forked = (message: string) =>
  unverified(
    message,
    "Do not trust this service until its operator explains it. Keep the files: they are the evidence.",
  );
