import { z } from "zod";
import { attestationsKey } from "./blobs.ts";

/** The documents about an image, exactly as they were signed. */
export const Attestations = z.object({
  spdx: z.string(),
  cyclonedx: z.string(),
  /** DSSE envelopes, one per line. */
  provenance: z.string(),
});
export type Attestations = z.infer<typeof Attestations>;

export async function findAttestations(blobs: R2Bucket, uid: string): Promise<Attestations | undefined> {
  const blob = await blobs.get(attestationsKey(uid));
  return blob ? Attestations.parse(await blob.json()) : undefined;
}

/** Stores the attestations unless another request did so first. Returns the stored ones. */
export async function keepAttestations(
  blobs: R2Bucket,
  uid: string,
  attestations: Attestations,
): Promise<Attestations> {
  const kept = await blobs.put(attestationsKey(uid), JSON.stringify(attestations), {
    httpMetadata: { contentType: "application/json" },
    onlyIf: { etagDoesNotMatch: "*" },
  });
  return kept ? attestations : ((await findAttestations(blobs, uid)) ?? attestations);
}
