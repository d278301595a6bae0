import { Buffer } from "node:buffer";
import { createPublicKey, verify } from "node:crypto";
import type { SigningKey } from "../signing-key.ts";
import { partsOf, signatureLine, signaturesBy, writeKey } from "./note.ts";
import type { TreeHead } from "./tree.ts";

/* Checkpoints (c2sp.org/tlog-checkpoint) are signed notes. */

/** A signed state of a log. */
export interface Checkpoint extends TreeHead {
  /** The name of the log. */
  origin: string;
}

/** The log's public key as signed notes write keys. */
export const verifierKey = (origin: string, key: { x: string }): string => writeKey({ name: origin, type: "log", key });

/** A checkpoint as a note that the log's key signed. */
export async function signCheckpoint({ origin, size, root }: Checkpoint, key: SigningKey): Promise<string> {
  const body = `${origin}\n${size}\n${root.toString("base64")}\n`;
  const signature = Buffer.from(await key.sign(Uint8Array.from(Buffer.from(body))));
  return `${body}\n${signatureLine({ name: origin, type: "log", key }, signature)}`;
}

/** Reads a checkpoint without checking its signatures. Undefined if the text is not a checkpoint. */
export function readCheckpoint(note: string): Checkpoint | undefined {
  const [origin = "", size = "", root = ""] = partsOf(note).body.split("\n");
  const hash = Buffer.from(root, "base64");
  const isOne = /^[^\s+]+$/.test(origin) && /^(0|[1-9]\d{0,14})$/.test(size) && hash.length === 32;
  return isOne ? { origin, size: Number(size), root: hash } : undefined;
}

/**
 * Whether one of the log's keys signed the checkpoint, as the log that its first line names. A wrong signature by one
 * of these keys makes the whole note invalid.
 */
export function isSignedBy(note: string, keys: readonly { pem: string }[]): boolean {
  const verdicts = keys.flatMap((key) => verdictsOf(note, key));
  return verdicts.length > 0 && verdicts.every(Boolean);
}

function verdictsOf(note: string, { pem }: { pem: string }): boolean[] {
  const name = readCheckpoint(note)?.origin;
  if (name === undefined) return [];
  const { body, signatures } = partsOf(note);
  const key = createPublicKey(pem);
  const x = key.export({ format: "jwk" }).x ?? "";
  const own = signaturesBy({ name, type: "log", key: { x } }, signatures);
  return own.map((signature) => verify(null, Buffer.from(body), key, signature));
}
