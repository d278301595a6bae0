import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { SigningKey } from "./signing-key.ts";

/**
 * A signed statement as a line of JSON: a DSSE envelope, v1. The signature covers the statement's type and length too,
 * so it is not valid for anything else.
 */
export async function signedEnvelope(payloadType: string, payload: Uint8Array, key: SigningKey): Promise<string> {
  const signature = await key.sign(preAuthEncoding(payloadType, payload));
  const envelope = {
    payload: Buffer.from(payload).toString("base64"),
    payloadType,
    signatures: [{ keyid: key.id, sig: Buffer.from(signature).toString("base64") }],
  };
  return `${JSON.stringify(envelope)}\n`;
}

/** PAE of the DSSE protocol: `DSSEv1 LENGTH TYPE LENGTH PAYLOAD`, lengths in bytes. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `;
  return Uint8Array.from(Buffer.concat([Buffer.from(head), payload]));
}

/**
 * SHA-256 in hex of the statement in an envelope. It does not change if the statement is signed with a different key.
 */
export function statementDigest(envelope: string): string {
  const { payload } = JSON.parse(envelope) as { payload: string };
  return createHash("sha256").update(Buffer.from(payload, "base64")).digest("hex");
}
