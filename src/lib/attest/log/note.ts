import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { publicKeyFrom, type PublicKey } from "../signing-key.ts";

/* Signed notes (c2sp.org/signed-note): a text, and a line for each signature of it. */

export interface NoteSignature {
  name: string;
  /** 4 bytes that identify the key, then the signature. */
  bytes: Buffer;
}

/** The types of keys in signed notes: a log signs with one, a witness with another. */
const keyTypes = { log: 1, witness: 4 } as const;
export type KeyType = keyof typeof keyTypes;

/** A public key, and the name under which it signs. */
export interface NamedKey {
  name: string;
  type: KeyType;
  key: Pick<PublicKey, "x" | "pem">;
}

const bytesOf = ({ x }: { x: string }): Buffer => Buffer.from(x, "base64url");

/** The 4 bytes by which a signature names its key. */
function keyHash({ name, type, key }: { name: string; type: KeyType; key: { x: string } }): Buffer {
  const hash = createHash("sha256").update(`${name}\n`).update(Buffer.of(keyTypes[type])).update(bytesOf(key));
  return hash.digest().subarray(0, 4);
}

/** A public key as notes write keys: what logs, witnesses and monitors configure. */
export function writeKey(named: { name: string; type: KeyType; key: { x: string } }): string {
  const material = Buffer.concat([Buffer.of(keyTypes[named.type]), bytesOf(named.key)]).toString("base64");
  return `${named.name}+${keyHash(named).toString("hex")}+${material}`;
}

/** Undefined if the text is not such a key, or is one of another kind. */
export function readKey(text: string): NamedKey | undefined {
  const [, name = "", hash, material = ""] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text) ?? [];
  const bytes = Buffer.from(material, "base64");
  const type = (["log", "witness"] as const).find((one) => keyTypes[one] === bytes[0]);
  if (type === undefined || bytes.length !== 33) return undefined;
  const named = { name, type, key: publicKeyFrom(bytes.subarray(1)) };
  return keyHash(named).toString("hex") === hash ? named : undefined;
}

/** The line of a signature. `bytes` is what follows the name of the key in it. */
export function signatureLine(named: { name: string; type: KeyType; key: { x: string } }, bytes: Uint8Array): string {
  return `— ${named.name} ${Buffer.concat([keyHash(named), bytes]).toString("base64")}\n`;
}

/** The text of a note, which is the signed part, and its signatures. */
export function partsOf(note: string): { body: string; signatures: NoteSignature[] } {
  const at = note.lastIndexOf("\n\n");
  return at < 0
    ? { body: "", signatures: [] }
    : { body: note.slice(0, at + 1), signatures: signaturesIn(note.slice(at + 2)) };
}

export const signaturesIn = (lines: string): NoteSignature[] =>
  lines.split("\n").flatMap((line) => {
    const [, name, text] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    return name !== undefined && text !== undefined ? [{ name, bytes: Buffer.from(text, "base64") }] : [];
  });

/** The signatures that claim to be by this key, without the 4 bytes that name it. */
export function signaturesBy(named: Omit<NamedKey, "key"> & { key: { x: string } }, all: readonly NoteSignature[]) {
  const id = keyHash(named);
  return all
    .filter(({ name, bytes }) => name === named.name && bytes.subarray(0, 4).equals(id))
    .map(({ bytes }) => bytes.subarray(4));
}
