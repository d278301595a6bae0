/** Reads what `dsse.ts` writes. The command line and the builder agent use it, too. */
import { Buffer } from "node:buffer";
import { createHash, createPublicKey, verify } from "node:crypto";
import { preAuthEncoding } from "./dsse.ts";

/** A public key. `kid` is the SHA-256 of its SPKI. */
export interface PublicKey {
  kid: string;
  pem: string;
}

/** Computes the id, because an id that comes with a key proves nothing. Throws if it is not a public key. */
export function publicKeyOf(pem: string): PublicKey {
  const spki = createPublicKey(pem).export({ type: "spki", format: "der" });
  return { kid: createHash("sha256").update(spki).digest("hex"), pem };
}

/** The media type of an in-toto statement. */
export const statementType = "application/vnd.in-toto+json";

/** The ends of the names of the bills of materials of an image, which follow its name. */
export const billSuffixes = [".spdx.json", ".cdx.json"] as const;
/** The end of the name of the file with the provenance. */
export const provenanceSuffix = ".intoto.jsonl";

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

export interface Opened<Of> {
  statement: Of;
  /** SHA-256 of the statement's bytes, in hex. */
  digest: string;
  key: PublicKey;
}

/** Why an envelope proves nothing. `kids` are the keys that it names. */
export interface Unproven {
  why: "damaged" | "unknown key" | "wrong signature";
  kids: string[];
}

/** The statement in a DSSE envelope, which one of these keys must have signed. */
export function readEnvelope<Of>(text: string, keys: readonly PublicKey[]): Opened<Of> | Unproven {
  try {
    return opened<Of>(JSON.parse(text) as Envelope, keys);
  } catch {
    return { why: "damaged", kids: [] };
  }
}

function opened<Of>({ payload, payloadType, signatures }: Envelope, keys: readonly PublicKey[]): Opened<Of> | Unproven {
  const body = Buffer.from(payload, "base64");
  const signed = preAuthEncoding(payloadType, body);
  const kids = signatures.map(({ keyid }) => keyid);
  const trusted = keys.filter(({ kid }) => kids.includes(kid));
  if (trusted.length === 0) return { why: "unknown key", kids };
  const key = trusted.find(({ kid, pem }) =>
    signatures.some(({ keyid, sig }) => keyid === kid && verify(null, signed, pem, Buffer.from(sig, "base64"))),
  );
  if (!key || payloadType !== statementType) return { why: "wrong signature", kids };
  const digest = createHash("sha256").update(body).digest("hex");
  return { statement: JSON.parse(body.toString("utf8")) as Of, digest, key };
}

export interface Subject {
  name: string;
  digest: { sha256: string };
}

/** The image of a provenance: its subject that has both bills of materials. */
export const imageAmong = (subject: readonly Subject[]): Subject | undefined =>
  subject.find(({ name }) => billSuffixes.every((suffix) => subject.some((one) => one.name === name + suffix)));
