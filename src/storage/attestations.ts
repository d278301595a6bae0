import { and, asc, gt, isNotNull } from "drizzle-orm";
import { z } from "zod";
import { attestationsKey } from "./blobs.ts";
import type { Database } from "./db.ts";
import { builds } from "./schema.ts";

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

/** Builds with an image after the id, in the order of their ids. */
export async function listAttestedBuilds(
  db: Database,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number; uid: string }[]> {
  return await db
    .select({ id: builds.id, uid: builds.uid })
    .from(builds)
    .where(and(gt(builds.id, after), isNotNull(builds.imageKey)))
    .orderBy(asc(builds.id))
    .limit(limit);
}

export async function deleteAttestations(blobs: R2Bucket, uid: string): Promise<void> {
  await blobs.delete(attestationsKey(uid));
}
