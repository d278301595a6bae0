import { makeOnce } from "#domain/accounts/idempotency";
import { refuseWithoutAgreement } from "#domain/accounts/agreement";
import { channelsToMove, followPassed } from "#domain/channels/follow";
import { refuseUnchecked } from "#domain/checks/gate";
import type { EncryptionKey } from "#domain/secrets";
import { sendOutboxEvent, versionPublished } from "#domain/events/events";
import { getOwnForGallery, getPublication, notPublished, refuseUnlessPublished } from "#domain/gallery/access";
import { logPublication, type PublicLogEnv } from "#domain/log/log";
import { definitionOf, softwareIn } from "#domain/gallery/snapshot";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { compareVersions } from "#domain/version";
import type { Account } from "#storage/accounts";
import { findBaseSystem, type Appliance } from "#storage/appliances";
import { findInput } from "#storage/build-blobs";
import { isUnfinished, type Build } from "#storage/builds";
import { listBuildsOfVersion } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import {
  addPublication,
  deletePublication,
  findPublicationByUuid,
  isPublished,
  listPublishedVersions,
  saveReleaseNotes,
  type NewPublication,
  type Publication,
} from "#storage/publications";

type UsedEnv = Pick<Env, "BLOBS" | "EVENTS"> & EncryptionKey & PublicLogEnv;

interface VersionOf {
  applianceId: number;
  version: string;
}

interface PublishRequest extends VersionOf {
  releaseNotes: string;
  /** The URL of the service, for pages that a refusal names. */
  baseUrl: string;
  requestId?: string | undefined;
  /** The appliance must have been last edited then. Undefined to publish it as it is. */
  editedAt?: Date | undefined;
}

/**
 * Publishes a built version in the gallery: a snapshot of the appliance and of the contents of its images. A single
 * conditional statement decides between simultaneous requests; the checks before it provide the reasons for a refusal.
 */
export async function publish(
  services: Services<UsedEnv>,
  account: Account,
  request: PublishRequest,
): Promise<Publication> {
  return await makeOnce(request.requestId, {
    find: (requestId) => findPublicationByUuid(services.db, requestId),
    make: () => publishNow(services, account, request),
  });
}

async function publishNow(
  services: Services<UsedEnv>,
  account: Account,
  { applianceId, version, releaseNotes, baseUrl, requestId: uuid, editedAt }: PublishRequest,
): Promise<Publication> {
  const { db } = services;
  const appliance = await getOwnForGallery(db, account.id, applianceId);
  if (editedAt && appliance.lastEditedAt.getTime() !== editedAt.getTime()) throw hasChanged();
  const build = await buildToPublish(db, { applianceId, version });
  const base = await findBaseSystem(db, appliance.baseSystem);
  await refuseWithoutAgreement(db, { accountId: account.id, base, baseUrl });
  await refuseUnchecked(db, appliance, { version, act: "be published" });
  const row = { ...(await snapshotOf(services, { account, appliance, build })), ...(uuid && { uuid }) };
  const moves = await channelsToMove(db, appliance, version);
  const announcement = versionPublished(row);
  const consistent = { announcement, moves, editedAt: appliance.lastEditedAt };
  const added = await addPublication(db, { ...row, releaseNotes }, consistent);
  if (added) {
    await followPassed(db, build.id); // its checks may have passed in the meantime
    await sendOutboxEvent(services, account, added.event);
    const { id: publicationId, formats } = added.publication;
    await logPublication(services, { publicationId, buildIds: formats.map(({ buildId }) => buildId) });
    return added.publication;
  }
  // Another request has prevented it in the meantime. This throws the refusal with the actual reason.
  await buildToPublish(db, { applianceId, version });
  throw hasChanged();
}

const hasChanged = () =>
  new Refusal("unknown_error", { message: "The appliance has just been changed. Please try again." });

export async function changeReleaseNotes(
  db: Database,
  account: Account,
  { applianceId, version, releaseNotes }: VersionOf & { releaseNotes: string },
): Promise<Publication> {
  await getOwnForGallery(db, account.id, applianceId);
  const changed = await saveReleaseNotes(db, { applianceId, version }, releaseNotes);
  return changed ?? (await getPublication(db, account.id, { applianceId, version }));
}

/** Removes a version from the gallery. The appliance's comments and ratings stay for the next version. */
export async function unpublish(db: Database, account: Account, { applianceId, version }: VersionOf): Promise<void> {
  await getOwnForGallery(db, account.id, applianceId);
  if (await deletePublication(db, applianceId, version)) return;
  await getPublication(db, account.id, { applianceId, version });
  throw notPublished("unknown");
}

/** The published versions in ascending order. */
export async function publishedVersions(db: Database, accountId: number, applianceId: number): Promise<string[]> {
  const versions = await listPublishedVersions(db, applianceId);
  if (versions.length === 0) await refuseUnlessPublished(db, accountId, applianceId);
  return versions.toSorted(compareVersions);
}

/** The first image of a version that may be published. */
async function buildToPublish(db: Database, { applianceId, version }: VersionOf): Promise<Build> {
  if (await isPublished(db, applianceId, version)) throw new Refusal("version_published");
  const ofVersion = await listBuildsOfVersion(db, applianceId, version);
  const image = ofVersion.findLast(({ status, expiredAt }) => status === "finished" && expiredAt === null);
  if (!image) throw new Refusal("invalid_version", { message: `The appliance has no image of version ${version}.` });
  if (!ofVersion.some(isUnfinished)) return image;
  // The specification has no code for it.
  throw new Refusal("unknown_error", {
    message: `Version ${version} is being built. Publish it when the build has ended.`,
  });
}

async function snapshotOf(
  services: Services<UsedEnv>,
  { account, appliance, build }: { account: Account; appliance: Appliance; build: Build },
): Promise<Omit<NewPublication, "releaseNotes">> {
  const input = await findInput(services.env.BLOBS, build.inputSha256);
  if (!input) throw new Refusal("build_not_found");
  const [definition, software] = await Promise.all([
    definitionOf(services, appliance, input),
    softwareIn(services, build, input),
  ]);
  const { description, website, tags, settings } = definition.configuration;
  return {
    uuid: crypto.randomUUID(),
    applianceId: appliance.id,
    accountId: account.id,
    version: build.version,
    name: appliance.name,
    description,
    homepage: website,
    tags: [...tags],
    publisher: account.displayName,
    username: account.username,
    baseSystem: appliance.baseSystem,
    arch: appliance.arch,
    imageType: appliance.imageType,
    publicClonable: settings.publicClonable,
    logoBlob: appliance.logoBlob,
    backgroundBlob: appliance.backgroundBlob,
    publishedAt: new Date(),
    definition,
    software,
    packages: software.installed.map(({ name }) => name).join(" "),
  };
}
