import { buildDifference, comparedBuild, type BuildDifference, type ComparedBuild } from "#domain/difference/builds";
import { getOwnForGallery } from "#domain/gallery/access";
import type { Place } from "#domain/place";
import { rest } from "#loop/pace";
import { Refusal } from "#domain/refusal";
import type { Account } from "#storage/accounts";
import { findAnyBuild, listBuildsOfAppliance, type Build } from "#storage/builds";
import { listPublishedImages } from "#storage/visible-builds";
import type { Database } from "#storage/db";

/** What release notes of a version can say. */
export interface ReleaseNotesDraft {
  applianceId: number;
  version: string;
  image: ComparedBuild;
  /** Compared with the version that was published before; absent: there was none. */
  since?: BuildDifference;
}

/** Of a version that has been built, whether it is published already or not. Nothing is stored. */
export async function draftReleaseNotes(
  { env, db }: Place<Pick<Env, "BLOBS">>,
  account: Account,
  { applianceId, version }: { applianceId: number; version: string },
): Promise<ReleaseNotesDraft> {
  const { id } = await getOwnForGallery(db, account.id, applianceId);
  const built = await listBuildsOfAppliance(db, id);
  const build = built.findLast((one) => one.version === version && one.status === "finished");
  if (!build) throw new Refusal("invalid_version", { message: `The appliance has no image of version ${version}.` });
  const image = await comparedBuild(env, build);
  const before = await publishedBefore(db, build);
  const compared = before && (await comparedBuild(env, before));
  await rest();
  const since = compared && buildDifference(compared, image);
  return { applianceId, version, image, ...(since && { since }) };
}

/** An image of the version that was published last before this one; of the same type if there is such a one. */
async function publishedBefore(db: Database, { applianceId, version, imageType }: Build): Promise<Build | undefined> {
  const published = await listPublishedImages(db, applianceId);
  const own = published.findIndex((one) => one.version === version);
  const formats = published[own + 1]?.formats ?? [];
  const format = formats.find((one) => one.imageType === imageType) ?? formats[0];
  return format && (await findAnyBuild(db, format.buildId));
}
