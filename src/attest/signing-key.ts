import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** A public Ed25519 key, as verifiers read it. */
export interface PublicKey {
  /** SHA-256 of the key's SPKI, in hex. */
  id: string;
  /** 32 bytes, base64url. */
  x: string;
  pem: string;
}

/** The service's own key. */
export interface SigningKey extends PublicKey {
  sign: (bytes: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>;
}

/** Of a private key in PKCS#8, base64: what `openssl genpkey -algorithm ed25519 -outform DER | base64 -w0` writes. */
export async function openSigningKey(pkcs8: string): Promise<SigningKey> {
  const bytes = Uint8Array.from(Buffer.from(pkcs8, "base64"));
  const key = await crypto.subtle.importKey("pkcs8", bytes, { name: "Ed25519" }, true, ["sign"]);
  const jwk = await crypto.subtle.exportKey("jwk", key);
  if (jwk instanceof ArrayBuffer || jwk.x === undefined) throw new Error("the attestation key has no public half");
  return { ...publicKey(jwk.x), sign: (bytes) => crypto.subtle.sign({ name: "Ed25519" }, key, bytes) };
}

/** Of a public key in SPKI, base64: the lines inside its PEM. Undefined: it is no Ed25519 key. */
export function readPublicKey(spki: string): PublicKey | undefined {
  const bytes = Buffer.from(spki, "base64");
  const isOne =
    bytes.byteLength === spkiPrefix.byteLength + 32 && bytes.subarray(0, spkiPrefix.byteLength).equals(spkiPrefix);
  return isOne ? publicKey(bytes.subarray(spkiPrefix.byteLength).toString("base64url")) : undefined;
}

/** RFC 8410: what stands before the 32 bytes of every Ed25519 key. */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

function publicKey(x: string): PublicKey {
  const spki = Buffer.concat([spkiPrefix, Buffer.from(x, "base64url")]);
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki.toString("base64")}\n-----END PUBLIC KEY-----\n`;
  return { id: createHash("sha256").update(spki).digest("hex"), x, pem };
}
