import type { Services } from "#domain/services";
import { resolve, type SoftwareResolution } from "#domain/software/resolution";
import { loadSoftware } from "#domain/software/resolution-request";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { saveEstimate } from "#storage/estimates";

export type Estimate = Pick<Appliance, "estimatedRawMb" | "estimatedCompressedMb">;

/**
 * Estimates the size of an image. Unpacked, it is what the packages install. Compressed, it is the size of their files,
 * because an rpm contains the same content with a similar compression. Undefined if there is no basis for an estimate.
 */
export function estimateOf(resolution: SoftwareResolution): Estimate | undefined {
  if (resolution.state !== "solved") return undefined;
  return {
    estimatedRawMb: megabytes(resolution.packages.map(({ installSizeBytes }) => installSizeBytes)),
    estimatedCompressedMb: megabytes(resolution.packages.map(({ downloadSizeBytes }) => downloadSizeBytes)),
  };
}

/** The appliance with the estimated size of its software. If that does not resolve, the last estimate stays. */
export async function withEstimate(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
): Promise<Appliance> {
  const resolution = await resolve({ env, db }, await loadSoftware(db, appliance));
  return await noteEstimate(db, appliance, resolution);
}

/** Stores the size that a resolution gives, for lists, which do not resolve. */
export async function noteEstimate(
  db: Database,
  appliance: Appliance,
  resolution: SoftwareResolution,
): Promise<Appliance> {
  const estimate = estimateOf(resolution);
  if (!estimate || isSame(estimate, appliance)) return appliance;
  await saveEstimate(db, appliance.id, estimate);
  return { ...appliance, ...estimate };
}

const isSame = (left: Estimate, right: Estimate): boolean =>
  left.estimatedRawMb === right.estimatedRawMb && left.estimatedCompressedMb === right.estimatedCompressedMb;

const megabytes = (sizes: number[]): number => Math.ceil(sizes.reduce((total, bytes) => total + bytes, 0) / 1024 ** 2);
