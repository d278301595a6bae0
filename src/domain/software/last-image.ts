import { createHash } from "node:crypto";
import type { Services } from "#domain/services";
import {
  imageOf,
  questionOf,
  remembered,
  resolve,
  type Image,
  type SoftwareResolution,
} from "#domain/software/resolution";
import type { ApplianceSoftware } from "#domain/software/resolution-request";
import type { Database } from "#storage/db";
import { findLastImage, saveLastImage } from "#storage/last-images";

/**
 * The image before a change. This is usually the stored result of the previous change, so that a new isolate solves
 * only once, as zypper does.
 */
export async function imageBefore(
  services: Services<Pick<Env, "BLOBS">>,
  applianceId: number,
  software: ApplianceSoftware,
): Promise<Image> {
  const known = remembered(software);
  if (known) return imageOf(known);
  const kept = await findLastImage(services.db, applianceId, digestOf(software));
  if (kept) return kept.packages === null ? undefined : new Set(kept.packages);
  return imageOf(await resolve(services, software));
}

/** Stores the image after a change. */
export async function keepImage(
  db: Database,
  applianceId: number,
  { software, resolution }: { software: ApplianceSoftware; resolution: SoftwareResolution },
): Promise<void> {
  if (resolution.state === "unimported") return;
  const image = imageOf(resolution);
  await saveLastImage(db, applianceId, { question: digestOf(software), packages: image ? [...image] : null });
}

const digestOf = (software: ApplianceSoftware): string =>
  createHash("sha256").update(questionOf(software)).digest("hex");
