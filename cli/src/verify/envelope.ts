import { createHash, verify } from "node:crypto";
import { Complaint } from "../complaint.ts";
import type { PinnedKey } from "../login/login.ts";

/** The signed provenance of an image (docs/api/attestations.md). */
interface Statement {
  subject: { name: string; digest: { sha256: string } }[];
  predicate: {
    runDetails: { builder: { id: string }; metadata: { invocationId: string; finishedOn: string } };
    buildDefinition: {
      externalParameters: { appliance: { name: string }; version: string; imageType: string; arch: string };
    };
  };
}

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

const statementType = "application/vnd.in-toto+json";

export const unverified = (message: string, next: string): Complaint => new Complaint("unverified", message, next);

interface Opened<Of> {
  statement: Of;
  /** SHA-256 of the statement's bytes, in hex. */
  digest: string;
  key: PinnedKey;
}

/** The statement in a DSSE envelope, which one of these keys must have signed. `what` names it in messages. */
export function openEnvelope<Of = Statement>(
  text: string,
  keys: readonly PinnedKey[],
  what = "provenance",
): Opened<Of> {
  try {
    return opened<Of>(JSON.parse(text) as Envelope, keys, what);
  } catch (error) {
    if (error instanceof Complaint) throw error;
    throw unverified(`The ${what} is damaged.`, "Download it again.");
  }
}

function opened<Of>(
  { payload, payloadType, signatures }: Envelope,
  keys: readonly PinnedKey[],
  what: string,
): Opened<Of> {
  const body = Buffer.from(payload, "base64");
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${body.length} `), body]);
  const kids = signatures.map(({ keyid }) => keyid);
  const trusted = keys.filter(({ kid }) => kids.includes(kid));
  if (trusted.length === 0)
    throw unverified(
      `The ${what} is signed with a key that you do not trust: ${kids.join(", ")}.`,
      "If the operator of the service confirms this key, run `kiln login ADDRESS --trust-key KEY`.",
    );
  const key = trusted.find(({ kid, pem }) =>
    signatures.some(({ keyid, sig }) => keyid === kid && verify(null, signed, pem, Buffer.from(sig, "base64"))),
  );
  if (!key || payloadType !== statementType)
    throw unverified(`The signature is wrong: the ${what} was changed.`, "Do not use the image. Download it again.");
  const digest = createHash("sha256").update(body).digest("hex");
  return { statement: JSON.parse(body.toString("utf8")) as Of, digest, key };
}
