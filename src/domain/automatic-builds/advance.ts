import type { Services } from "#domain/services";
import { imageTypes } from "#lib/contract/index";
import { startBuild } from "#domain/builds/start";
import { isNewer } from "#domain/channels/follow";
import { whyNotPassed } from "#domain/checks/gate";
import { publish } from "#domain/gallery/publish";
import { Refusal } from "#domain/refusal";
import { configurationOf } from "#lib/configuration/stored";
import type { PlannedBuild } from "#model/automatic-build";
import { findOwner } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import { findBuildByUid, isUnfinished, type Build } from "#storage/builds";
import { listChannels } from "#storage/channels";
import type { AutomaticBuildEnd, Watch } from "#storage/watches";

/**
 * Does the next steps of an automatic build: starts its builds, waits for them and for their checks, and publishes the
 * version if an automatic channel would take it. Returns how the automatic build ended; undefined if it continues.
 */
export async function advanceBuild(
  services: Services,
  appliance: Appliance,
  watch: Watch,
): Promise<AutomaticBuildEnd | undefined> {
  const { automaticVersion: version, automaticBuilds: planned, automaticEditedAt } = watch;
  if (version === null) return failed("The automatic build has no version.");
  if (appliance.lastEditedAt.getTime() !== automaticEditedAt?.getTime())
    return failed("The appliance was changed in the meantime.");
  if (configurationOf(appliance).settings.automaticBuilds === "never") return failed("Automatic builds are off.");
  try {
    for (const one of planned) {
      const build = await startOnce(services, { appliance, version }, one);
      if (!build || isUnfinished(build)) return undefined;
      if (build.status !== "finished") return failed(`The build of ${build.imageType} ended: ${build.message}`);
    }
    const unproven = await whyNotPassed(services.db, appliance, version);
    if (unproven) return unproven.isPending ? undefined : failed(`Version ${unproven.text}.`);
    return await publishBuilt(services, { appliance, watch, version });
  } catch (error) {
    if (error instanceof Refusal) return failed(error.message);
    throw error;
  }
}

const failed = (message: string): AutomaticBuildEnd => ({ state: "failed", message });

/**
 * Starts a build, or finds it if it was started before, because its uid is chosen in advance. Undefined if there is no
 * free slot.
 */
async function startOnce(
  services: Services,
  { appliance, version }: { appliance: Appliance; version: string },
  { uid, imageType }: PlannedBuild,
): Promise<Build | undefined> {
  const started = await findBuildByUid(services.db, uid);
  if (started) return started;
  const request = { applianceId: appliance.id, version, imageType, force: false, multi: false, isBackground: true };
  const { BASE_URL: baseUrl } = services.env;
  const account = { id: appliance.accountId ?? 0 };
  try {
    await startBuild(services, account, { ...request, allowedTypes: imageTypes, baseUrl, requestId: uid });
  } catch (error) {
    if (error instanceof Refusal && error.code === "no_build_slots") return undefined;
    throw error;
  }
  return await findBuildByUid(services.db, uid);
}

interface Built {
  appliance: Appliance;
  watch: Watch;
  version: string;
}

/**
 * Publishes the version if a channel would take it. Automatic channels take only published versions, and only a channel
 * that already has a version counts as released.
 */
async function publishBuilt(services: Services, { appliance, watch, version }: Built): Promise<AutomaticBuildEnd> {
  const { db, env } = services;
  const channels = (await listChannels(db, appliance.id)).filter(({ isAutomatic }) => isAutomatic);
  const behind = channels.filter((channel) => channel.version !== null && isNewer(version, channel));
  const requestId = watch.automaticPublication;
  const account = await findOwner(db, appliance.id);
  const isThere = channels.some((channel) => channel.version === version);
  if (behind.length > 0 && account && requestId !== null) {
    const { BASE_URL: baseUrl } = env;
    const { automaticMessage: releaseNotes, automaticEditedAt } = watch;
    // Edits that the owner has made since then are not in these images, and must not be published with them.
    const editedAt = automaticEditedAt ?? appliance.lastEditedAt;
    await publish(services, account, {
      applianceId: appliance.id,
      version,
      releaseNotes,
      baseUrl,
      requestId,
      editedAt,
    });
  }
  const names = (isThere ? channels : behind).map(({ name }) => name).join(", ");
  const where = names === "" ? "No automatic channel takes it, so it is not published." : `It is in ${names}.`;
  return { state: "done", message: `${watch.automaticMessage} ${where}` };
}
