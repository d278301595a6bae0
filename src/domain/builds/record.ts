import type { BuildFinished, CompleteUpload, NeededArtifact, OptionalArtifact } from "#lib/contract/index";
import { attestBuild } from "#domain/builds/attestation";
import type { AttestationEnv } from "#domain/builds/attestation-keys";
import { builtInOf, recordRebuilt, type RebuildOutcome } from "#domain/builds/rebuilt";
import type { Services } from "#domain/services";
import type { BuildState } from "#domain/builds/machine";
import { keepPreparedRoot } from "#domain/builds/prepared-root";
import { messageOf, stepsOf } from "#domain/builds/progress";
import type { Moment } from "#domain/events/events";
import { raiseRelease } from "#domain/version";
import type { EventName } from "#model/event-names";
import { findBuildByUid, saveEnded, saveFinished, saveQueued, saveRunning, type Result } from "#storage/builds";
import { openDatabase, type Database } from "#storage/db";

/** An artifact whose upload is complete. */
export type StoredArtifact = Omit<CompleteUpload, "partsDigest"> & { key: string };
export type Artifacts = Record<NeededArtifact, StoredArtifact> & Partial<Record<OptionalArtifact, StoredArtifact>>;

/** The agent's report about the finished image, with the uploads. */
export type Outcome = Omit<BuildFinished, "installed"> & { artifacts: Artifacts };

/** Writes a status into the build's row. Repeating it is safe. */
export async function recordState(
  services: Services<Pick<Env, "BLOBS"> & AttestationEnv>,
  uid: string,
  state: BuildState,
  outcome: Outcome | RebuildOutcome | undefined,
): Promise<void> {
  const { db } = services;
  switch (state.status) {
    case "queued":
      return await saveQueued(db, uid, { at: new Date(state.queuedAt), lostBy: state.lostBy });
    case "running":
      return await saveRunning(db, uid, { agentId: state.agentId, startedAt: new Date(state.startedAt) });
    case "finished":
      if (!outcome) throw new Error(`build ${uid} is finished without an outcome`);
      if ("rebuilt" in outcome) return await recordRebuilt(services, uid, outcome, state.endedAt);
      return await recordFinished(db, uid, resultOf(outcome, state.endedAt), sharedRootOf(outcome));
    default:
      return await saveEnded(db, uid, {
        status: state.status,
        cause: state.cause,
        message: messageOf(state),
        percent: state.percent ?? 0,
        steps: stepsOf(state, state.endedAt),
        completedAt: new Date(state.endedAt),
      });
  }
}

const events: Record<BuildState["status"], EventName> = {
  queued: "build.queued",
  running: "build.started",
  finished: "build.finished",
  failed: "build.failed",
  error: "build.failed",
  cancelled: "build.cancelled",
};

/** The event that announces a new state to the account. */
export const momentOf = (state: BuildState, at: number): Moment => ({
  event: events[state.status],
  at,
  state: state.status,
  message: messageOf(state),
});

/**
 * Signs the documents about the image now, before a key or the service changes. If this fails, the first request does
 * it.
 */
export async function attestFinished(env: Env, uid: string, { status }: BuildState): Promise<void> {
  if (status === "finished") await attestBuild({ env, db: openDatabase(env) }, uid);
}

async function recordFinished(db: Database, uid: string, result: Result, root: SharedRoot | undefined): Promise<void> {
  const build = await findBuildByUid(db, uid);
  // The appliance may have been deleted, together with this row.
  if (!build) return;
  await saveFinished(db, build, { ...result, nextVersion: raiseRelease(build.version) });
  if (root) await keepPreparedRoot(db, build, { ...root, at: result.completedAt });
}

type SharedRoot = { key: string; blobKey: string; sha256: string };

/** The root that the agent has uploaded and described. */
const sharedRootOf = ({ prepared, artifacts }: Outcome): SharedRoot | undefined =>
  prepared && artifacts.prepared && { ...prepared, blobKey: artifacts.prepared.key, sha256: artifacts.prepared.sha256 };

function resultOf({ artifacts, remark, ...reported }: Outcome, endedAt: number): Result {
  const { image, files, "files-index": filesIndex, delta } = artifacts;
  const { fileName, rawSize, compressed, diskSha256 = null, builder, builderRoot, conditions = null, steps } = reported;
  return {
    fileName,
    rawSize,
    compressed,
    builder,
    builtIn: builtInOf(builderRoot),
    conditions,
    steps,
    message: remark === undefined ? "Finished" : `Finished. ${remark}`,
    imageKey: image.key,
    fileSize: image.size,
    md5: image.md5,
    sha1: image.sha1,
    sha256: image.sha256,
    diskSha256,
    filesKey: files.key,
    filesSize: files.size,
    filesSha256: files.sha256,
    filesIndexKey: filesIndex.key,
    filesIndexSize: filesIndex.size,
    deltaKey: delta?.key ?? null,
    deltaSize: delta?.size ?? null,
    completedAt: new Date(endedAt),
  };
}
