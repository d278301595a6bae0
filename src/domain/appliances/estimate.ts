import type { Services } from "#domain/services";
import { resolve, type SoftwareResolution } from "#domain/software/resolution";
import { loadSoftware, type ApplianceSoftware } from "#domain/software/resolution-request";
import type { BaseSystemFacts } from "#model/catalogue";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { saveEstimate } from "#storage/estimates";

export type Estimate = Pick<Appliance, "estimatedRawMb" | "estimatedCompressedMb">;

/** The size of an image's packages, installed and as files. Undefined if there is no basis for an estimate. */
export function estimateOf(resolution: SoftwareResolution): Estimate | undefined {
  if (resolution.state !== "solved") return undefined;
  return {
    estimatedRawMb: megabytes(resolution.packages.map(({ installSizeBytes }) => installSizeBytes)),
    estimatedCompressedMb: megabytes(resolution.packages.map(({ downloadSizeBytes }) => downloadSizeBytes)),
  };
}

/** The appliance with the estimated size of its software. If the software does not resolve, the last estimate stays. */
export async function withEstimate(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
): Promise<Appliance> {
  const software = await loadSoftware(db, appliance);
  return await noteEstimate(db, appliance, { software, resolution: await resolve({ env, db }, software) });
}

/** Stores the size according to a resolution, for lists, which do not resolve packages. */
export async function noteEstimate(
  db: Database,
  appliance: Appliance,
  { software, resolution }: { software: Pick<ApplianceSoftware, "baseSystem">; resolution: SoftwareResolution },
): Promise<Appliance> {
  const packages = estimateOf(resolution);
  if (!packages) return appliance;
  const estimatedCompressedMb = downloadMb(packages.estimatedCompressedMb, software.baseSystem);
  const estimate = { ...packages, estimatedCompressedMb };
  if (isSame(estimate, appliance)) return appliance;
  await saveEstimate(db, appliance.id, estimate);
  return { ...appliance, ...estimate };
}

/**
 * Estimates the size of a download from the size of its packages as files. A package has the same content with a
 * similar compression, but an image has more than its packages.
 */
export function downloadMb(filesMb: number, facts: Pick<BaseSystemFacts, "download"> | undefined): number {
  const { besidesMb, perPackageMb } = facts?.download ?? { besidesMb: 0, perPackageMb: 1 };
  return Math.ceil(besidesMb + perPackageMb * filesMb);
}

const isSame = (left: Estimate, right: Estimate): boolean =>
  left.estimatedRawMb === right.estimatedRawMb && left.estimatedCompressedMb === right.estimatedCompressedMb;

const megabytes = (sizes: number[]): number => Math.ceil(sizes.reduce((total, bytes) => total + bytes, 0) / 1024 ** 2);
