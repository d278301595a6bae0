import { buildDifference, comparedBuild, type BuildDifference, type ComparedBuild } from "#domain/difference/builds";
import { getOwnForGallery } from "#domain/gallery/access";
import type { Services } from "#domain/services";
import { rest } from "#lib/loop/pace";
import { Refusal } from "#domain/refusal";
import type { Account } from "#storage/accounts";
import { findBaseSystem, listSelection, type Appliance } from "#storage/appliances";
import { findAnyBuild, type Build } from "#storage/builds";
import { listBuildsOfVersion } from "#storage/builds-of-appliance";
import { listPublishedImages } from "#storage/visible-builds";
import type { Database } from "#storage/db";

/** The facts for the release notes of a version. */
export interface ReleaseNotesDraft {
  applianceId: number;
  version: string;
  image: ComparedBuild;
  /** The name of the base system. */
  base: string;
  /** Selected packages that neither the template nor the appliance that this one was cloned from has. */
  own: string[];
  /** Paths of the appliance's own files. */
  ownFiles: string[];
  /** The difference from the previously published version. Absent if there was none. */
  since?: BuildDifference;
}

/** Drafts the release notes of a version that has been built, published or not. Nothing is stored. */
export async function draftReleaseNotes(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  account: Account,
  { applianceId, version }: { applianceId: number; version: string },
): Promise<ReleaseNotesDraft> {
  const appliance = await getOwnForGallery(db, account.id, applianceId);
  const { id } = appliance;
  const built = await listBuildsOfVersion(db, id, version);
  const build = built.findLast(({ status }) => status === "finished");
  if (!build) throw new Refusal("invalid_version", { message: `The appliance has no image of version ${version}.` });
  const image = await comparedBuild(env, build);
  const before = await publishedBefore(db, build);
  const compared = before && (await comparedBuild(env, before));
  await rest();
  const since = compared && buildDifference(compared, image);
  return { applianceId, version, image, ...(await madeOf(db, appliance, image)), ...(since && { since }) };
}

async function madeOf(
  db: Database,
  { parentId, baseSystem }: Appliance,
  { input }: ComparedBuild,
): Promise<Pick<ReleaseNotesDraft, "base" | "own" | "ownFiles">> {
  const [inherited, base] = await Promise.all([
    parentId === null ? [] : listSelection(db, parentId),
    findBaseSystem(db, baseSystem),
  ]);
  const known = new Set(inherited.map(({ name }) => name));
  return {
    base: base?.facts.title ?? baseSystem,
    own: input.selection.packages.map(({ name }) => name).filter((name) => !known.has(name)),
    ownFiles: (input.files ?? []).map(({ path }) => path),
  };
}

/** An image of the version that was published before this one, of the same type if there is one. */
async function publishedBefore(db: Database, { applianceId, version, imageType }: Build): Promise<Build | undefined> {
  const published = await listPublishedImages(db, applianceId);
  const own = published.findIndex((one) => one.version === version);
  const formats = published[own + 1]?.formats ?? [];
  const format = formats.find((one) => one.imageType === imageType) ?? formats[0];
  return format && (await findAnyBuild(db, format.buildId));
}
