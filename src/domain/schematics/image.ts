import { refuseMakingIn, refuseOutOfScope, type Access } from "#domain/accounts/access";
import { spend } from "#domain/accounts/rates";
import { watchBuild, type WatchedBuild } from "#domain/builds/build";
import { withLink } from "#domain/builds/download-link";
import { startBuild } from "#domain/builds/start";
import { FairTurns } from "#domain/fair-turns";
import { Refusal, tooFast } from "#domain/refusal";
import { repositoriesAsOf } from "#domain/repositories/as-of";
import { findOwnSchematic, noSchematic } from "#domain/schematics/schematic";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import type { Services } from "#domain/services";
import { versionAt } from "#domain/version";
import { imageTypes, type ImageType } from "#lib/contract/index";
import type { Account } from "#storage/accounts";
import { listApplianceRepositories, type Appliance } from "#storage/appliances";
import type { Repository } from "#storage/repositories";
import { isUnfinished, type Build } from "#storage/builds";
import { findBuildOfFormat } from "#storage/builds-of-appliance";

/** The name for the current contents of the repositories, used in an address in place of a day. */
export const current = "current";

/** The address of an image, and the request for it. */
export interface Asked {
  account: Account;
  access: Access;
  baseUrl: string;
  sha256: string;
  /** A day, or `current`. */
  when: string;
  format: string;
  /** Whether a build may be started. */
  mayStart: boolean;
}

/** The image of an address, or the build that is producing it. */
export type SchematicImage = { image: Build } | { building: WatchedBuild };

/**
 * The image of a schematic of this account. If there is none, its build is started, only once however many requests
 * there are. Each state of the repositories has its own version, so addresses of the same state lead to the same image.
 */
export async function imageOfSchematic({ env, db }: Services, asked: Asked): Promise<SchematicImage> {
  const { account, access, sha256, format } = asked;
  const appliance = await findOwnSchematic(db, account.id, sha256);
  if (!appliance) throw noSchematic(sha256);
  refuseMakingIn(access, appliance.id);
  const imageType = imageTypes.find((type) => type === format);
  if (!imageType)
    throw new Refusal("invalid_image_type", {
      message: `There is no format ${format.slice(0, 40)}. Pick one of ${imageTypes.join(", ")}.`,
    });
  const repositories = await repositoriesOf({ env, db }, appliance, asked.when);
  const wanted = { appliance, imageType, repositories, version: versionOf(repositories) };
  return (await findMade({ env, db }, asked, wanted)) ?? (await startOnce({ env, db }, asked, wanted));
}

interface Wanted {
  appliance: Appliance;
  imageType: ImageType;
  repositories: Repository[];
  version: string;
}

async function repositoriesOf(services: Services, appliance: Appliance, when: string): Promise<Repository[]> {
  const now = await listApplianceRepositories(services.db, appliance.id);
  return when === current ? now : await repositoriesAsOf(services, now, when);
}

/**
 * The version is named after the latest import of any of the repositories, because each new import creates a new state.
 */
const versionOf = (repositories: readonly Repository[]): string =>
  versionAt(new Date(Math.max(0, ...repositories.map(({ importedAt }) => importedAt?.getTime() ?? 0))));

/**
 * The image, or the build in progress. Undefined if it must be built: there was no build, its image has expired, or the
 * build ended through no fault of the appliance.
 */
async function findMade(
  { env, db }: Services,
  { account, access }: Asked,
  { appliance, ...wanted }: Wanted,
): Promise<SchematicImage | undefined> {
  const build = await findBuildOfFormat(db, appliance.id, wanted);
  if (!build) return undefined;
  if (isUnfinished(build)) return { building: await watchBuild({ env, db }, account.id, build.id) };
  if (build.status === "failed") throw hasFailed(build);
  const isThere = build.status === "finished" && build.expiredAt === null;
  return isThere ? { image: withLink(build, account.id, { account, access }) } : undefined;
}

/**
 * Builds of one appliance are started one after another, so that all requests but the first find the build. Between
 * isolates, a unique index decides.
 */
const starts = new FairTurns({
  atOnce: 4,
  atOncePerKey: 1,
  waiting: 1000,
  waitingPerKey: 500,
  maxWaitMs: 20_000,
  maxTurnMs: 20_000,
  message: "Too many builds are being started at the same time. Wait 2 s, then try again.",
});

async function startOnce(services: Services, asked: Asked, wanted: Wanted): Promise<SchematicImage> {
  const { env, db } = services;
  const { account, access, baseUrl, mayStart } = asked;
  if (!mayStart) throw foreignStart();
  if (access.by === "token") refuseOutOfScope(access, "build");
  await refuseInReadOnlyMode({ env, db });
  const { appliance, imageType, version, repositories: asOf } = wanted;
  return await starts.take(appliance.id, async () => {
    const made = await findMade(services, asked, wanted);
    if (made) return made;
    await spend(services, account.id, "builds");
    const request = { applianceId: appliance.id, version, imageType, asOf, force: false, multi: false };
    try {
      return { building: await startBuild(services, account, { ...request, allowedTypes: imageTypes, baseUrl }) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Another isolate may have started the same build, and taken the last slot for it.
      const other = await findMade(services, asked, wanted);
      if (other) return other;
      throw waits.has(error.code) ? tooFast(retrySeconds, error.message) : error;
    }
  });
}

/** Refusals that no longer apply once other builds end. */
const waits: ReadonlySet<string> = new Set(["no_build_slots", "initial_build_pending"]);
const retrySeconds = 30;

const foreignStart = () =>
  new Refusal("access_denied", {
    message:
      "There is no image yet, and a link on another site starts no build. Open the address itself to have it built.",
  });

const hasFailed = ({ id, message }: Build) =>
  new Refusal("configuration_error", {
    message: `Build ${id} of this image failed: ${message} Delete that build to have the image built again.`,
  });
