import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** A public Ed25519 key, in the forms that verifiers read. */
export interface PublicKey {
  /** SHA-256 of the key's SPKI, in hex. */
  id: string;
  /** 32 bytes, base64url. */
  x: string;
  pem: string;
}

/** The service's private key. */
export interface SigningKey extends PublicKey {
  sign: (bytes: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>;
}

/**
 * Reads a private key in PKCS#8 and base64, as `openssl genpkey -algorithm ed25519 -outform DER | base64 -w0` writes
 * it.
 */
export async function openSigningKey(pkcs8: string): Promise<SigningKey> {
  const { key, x } = await openPkcs8(Uint8Array.from(Buffer.from(pkcs8, "base64")));
  return { ...publicKey(x), sign: (bytes) => crypto.subtle.sign({ name: "Ed25519" }, key, bytes) };
}

/** The public half, in base64url, of the key that 32 bytes are the seed of. */
export const ed25519Of = async (seed: Uint8Array): Promise<{ x: string }> =>
  await openPkcs8(Uint8Array.from(Buffer.concat([pkcs8Prefix, seed])));

async function openPkcs8(bytes: Uint8Array<ArrayBuffer>): Promise<{ key: CryptoKey; x: string }> {
  const key = await crypto.subtle.importKey("pkcs8", bytes, { name: "Ed25519" }, true, ["sign"]);
  const jwk = await crypto.subtle.exportKey("jwk", key);
  if (jwk instanceof ArrayBuffer || jwk.x === undefined) throw new Error("the key has no public half");
  return { key, x: jwk.x };
}

/** Reads a public key in SPKI and base64: the lines inside its PEM. Undefined if it is not an Ed25519 key. */
export function readPublicKey(spki: string): PublicKey | undefined {
  const bytes = Buffer.from(spki, "base64");
  const isOne =
    bytes.byteLength === spkiPrefix.byteLength + 32 && bytes.subarray(0, spkiPrefix.byteLength).equals(spkiPrefix);
  return isOne ? publicKeyFrom(bytes.subarray(spkiPrefix.byteLength)) : undefined;
}

/** The bytes before the 32 bytes of every Ed25519 key (RFC 8410). */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** @param bytes the 32 bytes of an Ed25519 key */
export const publicKeyFrom = (bytes: Buffer): PublicKey => publicKey(bytes.toString("base64url"));

function publicKey(x: string): PublicKey {
  const spki = Buffer.concat([spkiPrefix, Buffer.from(x, "base64url")]);
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki.toString("base64")}\n-----END PUBLIC KEY-----\n`;
  return { id: createHash("sha256").update(spki).digest("hex"), x, pem };
}
