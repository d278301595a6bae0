import type { Services } from "#domain/services";
import { type Capabilities, type FrozenInput, type ImageType, imageTypes } from "#lib/contract/index";
import { refuseWithoutAgreement } from "#domain/accounts/agreement";
import { makeOnce } from "#domain/accounts/idempotency";
import { leftBytes } from "#domain/accounts/quota";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { rowsOf } from "#domain/appliances/examined-rows";
import { examine, examineOnly, type ExaminedAppliance } from "#domain/appliances/status";
import { buildObject, watched, type WatchedBuild } from "#domain/builds/build";
import { listDecidingBuilds } from "#domain/builds/deciding";
import { blobsIn } from "#domain/builds/frozen-content";
import { storePackages } from "#domain/builds/stored-packages";
import { freezeInput } from "#domain/builds/frozen-input";
import { withPlaceInQueue } from "#domain/builds/queue";
import { chooseImageType, chooseVersion, obstacleTo, type BuildRequest } from "#domain/builds/request";
import { Refusal } from "#domain/refusal";
import { newToken } from "#domain/secrets";
import { wakeAfterStart } from "#domain/liveness";
import { isVersionOfMoment } from "#domain/version";
import { logFailure } from "#log/log";
import { requestIdNow } from "#log/request-id";
import { type Configuration, configurationOf } from "#lib/configuration/stored";
import { listAbilities } from "#storage/agents";
import { findBaseSystem, type Appliance } from "#storage/appliances";
import { putInput } from "#storage/build-blobs";
import {
  type Build,
  type Slots,
  addBuild,
  findAnyBuild,
  findBuildByUid,
  hasFreeSlot,
  isUnfinished,
} from "#storage/builds";
import { listBuildsOfVersion } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import { freezeBlobs } from "#storage/frozen-blobs";
import { isPublished } from "#storage/publications";
import { isOfSchematic } from "#storage/schematics";
import { needsVolumes } from "#domain/configuration/volumes";
import { fileSystemOf } from "#lib/kiwi/file-system";

/**
 * Freezes everything that decides the build's content, takes a slot for it and wakes its object. A single conditional
 * statement writes the row, and alone decides between simultaneous requests. The checks before it only save work.
 */
export async function startBuild(
  { env, db }: Services,
  account: { id: number },
  request: BuildRequest,
): Promise<WatchedBuild> {
  const build = await makeOnce(request.requestId, {
    find: (requestId) => findBuildByUid(db, requestId),
    make: () => enqueue({ env, db }, account, request),
  });
  await wakeNew(env, build);
  return await withPlaceInQueue(db, build.id, watched(build));
}

/** Starts the object of a new build. The row is enough: if the object cannot be woken now, the sweep wakes it within a minute. */
export async function wakeNew(env: Pick<Env, "BUILDS">, build: Build): Promise<void> {
  await buildObject(env, build)
    .wake({ requestId: requestIdNow() })
    .catch((error: unknown) => logFailure("could not wake the object of a build", error, { buildId: build.id }));
}

async function enqueue({ env, db }: Services, account: { id: number }, request: BuildRequest): Promise<Build> {
  const appliance = await getOwnAppliance(db, account.id, request.applianceId, "invalid");
  const [built, abilities, base] = await Promise.all([
    listDecidingBuilds(db, appliance, request),
    listAbilities(db),
    findBaseSystem(db, appliance.baseSystem),
  ]);
  const version = chooseVersion(appliance, built, request);
  const imageType = chooseImageType({ appliance, base: base?.facts }, abilities, request);
  const { asOf } = request;
  if (!asOf) await refuseSchematicVersion(db, appliance, version);
  const obstacle =
    (await lockOn(db, { applianceId: appliance.id, version })) ?? obstacleTo({ version, imageType }, built, request);
  if (obstacle) throw obstacle;
  if ((await leftBytes({ env, db }, account.id)) === 0) throw noRoomForBuild();
  const { baseUrl } = request;
  await refuseWithoutAgreement(db, { accountId: account.id, base, baseUrl });
  // The rest is expensive. A build that replaces another one gets that one's slot.
  const replaced = request.force ? unfinishedOf(built, { version, imageType }) : [];
  const slots = slotsOf(env, request);
  if (replaced.length === 0 && !(await hasFreeSlot(db, account.id, slots))) throw new Refusal("no_build_slots");
  const { software, resolution } = okOrRefused(await examined({ env, db }, appliance, { imageType, abilities, asOf }));
  const input = await freezeInput({ env, db }, appliance, { version, imageType, software, resolution });
  const disk = diskNeedsOf(configurationOf(appliance), imageType);
  return await addFrozen({ env, db }, account, { request, replaced, slots, input, disk });
}

/**
 * Refuses a version that belongs to an address of a schematic. The address must lead to the image of that state of the
 * repositories.
 */
async function refuseSchematicVersion(db: Database, appliance: Appliance, version: string): Promise<void> {
  if (!isVersionOfMoment(version) || !(await isOfSchematic(db, appliance.id))) return;
  const message = `Version ${version} is reserved for an address of the schematic. Pick ${appliance.version}.`;
  throw new Refusal("invalid_version", { message });
}

/** The appliance with its repositories as they are now, or as they were at the requested moment. */
async function examined(
  { env, db }: Services,
  appliance: Appliance,
  { imageType, abilities, asOf }: { imageType: ImageType; abilities: Capabilities[]; asOf: BuildRequest["asOf"] },
): Promise<ExaminedAppliance> {
  if (!asOf) return await examine({ env, db }, appliance, { imageType, abilities });
  const rows = { ...(await rowsOf(db, appliance)), repositories: [...asOf] };
  return await examineOnly({ env, db }, appliance, { imageType, abilities, rows });
}

/** A build with a frozen input, and its slot. */
interface Frozen {
  request: Pick<BuildRequest, "requestId" | "isBackground" | "force">;
  /** Builds that are cancelled for this one. */
  replaced: Build[];
  slots: Slots;
  input: FrozenInput;
  disk: DiskNeeds;
}

/** Stores the frozen input, and takes a slot for the build in one conditional statement. */
export async function addFrozen(
  { env, db }: Services,
  account: { id: number },
  { request, replaced, slots, input, disk }: Frozen,
): Promise<Build> {
  const { appliance, imageType } = input;
  const inputSha256 = await putInput(env.BLOBS, input);
  await Promise.all(replaced.map((one) => buildObject(env, one).cancel()));
  const row = { accountId: account.id, applianceId: appliance.id, version: appliance.version, imageType, inputSha256 };
  const createdAt = new Date();
  const build = await addBuild(
    db,
    {
      ...row,
      uid: request.requestId ?? crypto.randomUUID(),
      ...disk,
      needsEfi: input.firmware === "efi",
      hasSecureBoot: input.hasSecureBoot ?? false,
      packageType: input.packageType ?? "rpm",
      builderRoot: input.builderRoot ?? null,
      isBackground: request.isBackground ?? false,
      downloadToken: newToken(),
      createdAt,
      wakeAt: wakeAfterStart(createdAt),
    },
    { force: request.force, slots },
  );
  if (!build) throw await refusalOf(db, row);
  // If this is interrupted, the first claim does it.
  await freezeBlobs(db, build.id, blobsIn(input));
  await storePackages({ env, db }, build.id, input);
  return build;
}

/**
 * Builds a failed build again for its account, from the current appliance. For the operator, after the cause was fixed.
 */
export async function buildAgain({ env, db }: Services, id: number, baseUrl: string): Promise<WatchedBuild> {
  const build = await findAnyBuild(db, id);
  if (build?.status !== "failed" && build?.status !== "error")
    throw new Refusal("invalid_build_id", { reason: "unknown" });
  const { accountId, applianceId, imageType, version } = build;
  const request = { applianceId, version, imageType, force: false, multi: false, allowedTypes: imageTypes, baseUrl };
  return await startBuild({ env, db }, { id: accountId }, request);
}

function okOrRefused(examined: ExaminedAppliance): ExaminedAppliance {
  const { state, issues } = examined;
  if (state === "ok") return examined;
  const first = issues.find(({ type }) => type === "error");
  throw new Refusal("configuration_error", first ? { message: first.text, repository: first.repository } : {});
}

/** The specification has no code for this refusal. */
const noRoomForBuild = () =>
  new Refusal("unknown_error", {
    message: "Your disk quota is used up. Delete builds or uploads that you no longer need, and start the build again.",
  });

/** The refusal if no row was written, because another request changed something in the meantime or there is no slot. */
async function refusalOf(db: Database, row: Pick<Build, "applianceId" | "version" | "imageType">): Promise<Refusal> {
  const built = await listBuildsOfVersion(db, row.applianceId, row.version);
  return (await lockOn(db, row)) ?? obstacleTo(row, built, { force: false }) ?? new Refusal("no_build_slots");
}

/** The refusal to change a version that is in the gallery. Undefined if the version is not published. */
async function lockOn(
  db: Database,
  { applianceId, version }: Pick<Build, "applianceId" | "version">,
): Promise<Refusal | undefined> {
  return (await isPublished(db, applianceId, version)) ? new Refusal("image_is_locked") : undefined;
}

const unfinishedOf = (built: Build[], { version, imageType }: Pick<Build, "version" | "imageType">): Build[] =>
  built.filter((build) => build.version === version && build.imageType === imageType && isUnfinished(build));

/**
 * Background builds leave half of all slots, and one of the account's slots, to people. They can always use one slot.
 */
export function slotsOf(env: Env, { isBackground }: Pick<BuildRequest, "isBackground">) {
  const [all, perAccount] = [Number(env.MAX_BUILDS), Number(env.MAX_BUILDS_PER_ACCOUNT)];
  if (!isBackground) return { all, perAccount };
  return { all: Math.max(1, Math.floor(all / 2)), perAccount: Math.max(1, perAccount - 1) };
}

/** The facts about a build's disk that decide which agents can create it. */
type DiskNeeds = Pick<Build, "needsLvm" | "fileSystem">;

const diskNeedsOf = (configuration: Configuration, imageType: ImageType): DiskNeeds => ({
  needsLvm: needsVolumes(configuration, imageType),
  fileSystem: fileSystemOf({ imageType, settings: configuration.settings }),
});
