import { Buffer } from "node:buffer";
import { createHash, createPublicKey, verify } from "node:crypto";
import type { SigningKey } from "../signing-key.ts";
import type { TreeHead } from "./tree.ts";

/* Checkpoints (c2sp.org/tlog-checkpoint) are signed notes (c2sp.org/signed-note). */

/** A signed state of a log. */
export interface Checkpoint extends TreeHead {
  /** The name of the log. */
  origin: string;
}

interface NoteSignature {
  name: string;
  /** 4 bytes that say which key signed, then the signature. */
  bytes: Buffer;
}

/** The types of keys in signed notes: a log signs with one, a witness with another. */
const keyTypes = { log: 1, witness: 4 } as const;

/** The 4 bytes by which a signature names its key. */
function keyHash(name: string, type: number, publicKey: Uint8Array): Buffer {
  const hash = createHash("sha256").update(`${name}\n`).update(Buffer.of(type)).update(publicKey);
  return hash.digest().subarray(0, 4);
}

const bytesOf = ({ x }: { x: string }): Buffer => Buffer.from(x, "base64url");

/** The log's public key as signed notes write keys: what witnesses and monitors configure. */
export function verifierKey(origin: string, key: { x: string }): string {
  const publicKey = bytesOf(key);
  const material = Buffer.concat([Buffer.of(keyTypes.log), publicKey]).toString("base64");
  return `${origin}+${keyHash(origin, keyTypes.log, publicKey).toString("hex")}+${material}`;
}

/** A checkpoint as a note that the log's key signed. */
export async function signCheckpoint({ origin, size, root }: Checkpoint, key: SigningKey): Promise<string> {
  const body = `${origin}\n${size}\n${root.toString("base64")}\n`;
  const signature = Buffer.from(await key.sign(Uint8Array.from(Buffer.from(body))));
  const id = keyHash(origin, keyTypes.log, bytesOf(key));
  return `${body}\n— ${origin} ${Buffer.concat([id, signature]).toString("base64")}\n`;
}

/** Reads a checkpoint without checking its signatures. Undefined if the text is not a checkpoint. */
export function readCheckpoint(note: string): Checkpoint | undefined {
  const [origin = "", size = "", root = ""] = partsOf(note).body.split("\n");
  const hash = Buffer.from(root, "base64");
  const isOne = /^[^\s+]+$/.test(origin) && /^(0|[1-9]\d{0,14})$/.test(size) && hash.length === 32;
  return isOne ? { origin, size: Number(size), root: hash } : undefined;
}

/** Whether one of the log's keys signed the checkpoint. */
export const isSignedBy = (note: string, keys: readonly { pem: string }[]): boolean =>
  keys.some((key) => signsNote(note, key));

/** Whether the key signed the checkpoint, as the log that its first line names. */
function signsNote(note: string, { pem }: { pem: string }): boolean {
  const origin = readCheckpoint(note)?.origin;
  if (origin === undefined) return false;
  const { body, signatures } = partsOf(note);
  const key = createPublicKey(pem);
  const id = keyHash(origin, keyTypes.log, bytesOf({ x: key.export({ format: "jwk" }).x ?? "" }));
  return signatures.some(
    ({ name, bytes }) =>
      name === origin && bytes.subarray(0, 4).equals(id) && verify(null, Buffer.from(body), key, bytes.subarray(4)),
  );
}

/** The text of a note, which is what is signed, and its signatures. */
function partsOf(note: string): { body: string; signatures: NoteSignature[] } {
  const at = note.lastIndexOf("\n\n");
  if (at < 0) return { body: "", signatures: [] };
  const lines = note.slice(at + 2).split("\n");
  const signatures = lines.flatMap((line) => {
    const [, name, text] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    return name !== undefined && text !== undefined ? [{ name, bytes: Buffer.from(text, "base64") }] : [];
  });
  return { body: note.slice(0, at + 1), signatures };
}
