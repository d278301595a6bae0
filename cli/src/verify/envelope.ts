import { readEnvelope, type Opened, type Subject } from "../attest.ts";
import { Complaint } from "../complaint.ts";
import type { PinnedKey } from "../login/login.ts";

/** The signed provenance of an image (docs/api/attestations.md). */
interface Statement {
  subject: Subject[];
  predicate: {
    runDetails: {
      builder: { id: string };
      metadata: { invocationId: string; finishedOn: string };
      /** One is the disk in the image, by its path. Absent in a provenance of an older service. */
      byproducts?: Subject[];
    };
    buildDefinition: {
      externalParameters: { appliance: { id: number; name: string }; version: string; imageType: string; arch: string };
      /** Both are absent in a provenance of an older service, and the second also if the build started from nothing. */
      internalParameters: { isolation?: "vm" | "none"; startedFrom?: { kind: "disk" | "root" | "packages" } };
    };
  };
}

export const unverified = (message: string, next: string): Complaint => new Complaint("unverified", message, next);

/** The statement in a DSSE envelope, which one of these keys must have signed. `what` names it in messages. */
export function openEnvelope<Of = Statement>(
  text: string,
  keys: readonly PinnedKey[],
  what = "provenance",
): Opened<Of> {
  const opened = readEnvelope<Of>(text, keys);
  if (!("why" in opened)) return opened;
  if (opened.why === "damaged") throw unverified(`The ${what} is damaged.`, "Download it again.");
  if (opened.why === "wrong signature")
    throw unverified(`The signature is wrong: the ${what} was changed.`, "Do not use the image. Download it again.");
  throw unverified(
    `The ${what} is signed with a key that you do not trust: ${opened.kids.join(", ")}.`,
    "If the operator of the service confirms this key, run `kiln login ADDRESS --trust-key KEY`.",
  );
}
