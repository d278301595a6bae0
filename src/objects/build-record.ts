import type { BuildFinished } from "#contract/index";
import type { EventName } from "#domain/event-names";
import type { Moment } from "#domain/events";
import { raiseRelease } from "#domain/version";
import { switchboard } from "#queues/jobs";
import { listAgents } from "#storage/agents";
import { findAnyBuild, saveEnded, saveFinished, saveQueued, saveRunning, type Result } from "#storage/builds";
import { openDatabase, type Database } from "#storage/db";
import type { AgentsSeen, BuildState } from "./build-machine.ts";
import { messageOf } from "./build-progress.ts";
import type { Artifacts } from "./build-uploads.ts";

/** What the agent told of the image that it finished, and what it uploaded. */
export type Outcome = Omit<BuildFinished, "installed"> & { artifacts: Artifacts };

/** Writes a status into the build's row; again if need be. */
export async function tellDatabase(
  db: Database,
  id: number,
  state: BuildState,
  outcome: Outcome | undefined,
): Promise<void> {
  switch (state.status) {
    case "queued":
      return await saveQueued(db, id);
    case "running":
      return await saveRunning(db, id, { agentId: state.agentId, startedAt: new Date(state.startedAt) });
    case "finished":
      if (!outcome) throw new Error(`build ${id} is finished without an outcome`);
      return await tellFinished(db, id, resultOf(outcome, state.endedAt));
    default:
      return await saveEnded(db, id, {
        status: state.status,
        message: messageOf(state),
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

/** What the account is told of a state that began just now. */
export const momentOf = (state: BuildState, at: number): Moment => ({
  event: events[state.status],
  at,
  state: state.status,
  message: messageOf(state),
});

/** Whether agents that can do this build are there at all. */
export async function agentsSeen(env: Env, buildId: number): Promise<AgentsSeen> {
  const db = openDatabase(env.DB);
  const [build, agents, connected] = await Promise.all([
    findAnyBuild(db, buildId),
    listAgents(db),
    switchboard(env).connected(),
  ]);
  const fit = agents.filter(
    ({ id, lastSeenAt, capabilities }) =>
      build &&
      capabilities?.imageTypes.includes(build.imageType) &&
      (connected.includes(id) || (lastSeenAt?.getTime() ?? 0) > Date.now() - forgottenAfterMs),
  );
  return fit.length === 0 ? "none" : "busy";
}

/** An agent that is alive heartbeats or polls more often than this. */
const forgottenAfterMs = 60_000;

async function tellFinished(db: Database, id: number, result: Result): Promise<void> {
  const build = await findAnyBuild(db, id);
  // The appliance may be gone, and with it the row.
  if (build) await saveFinished(db, build, { ...result, nextVersion: raiseRelease(build.version) });
}

function resultOf({ artifacts, remark, ...told }: Outcome, endedAt: number): Result {
  const { image, files, "files-index": filesIndex } = artifacts;
  return {
    ...told,
    message: remark === undefined ? "Finished" : `Finished. ${remark}`,
    imageKey: image.key,
    fileSize: image.size,
    md5: image.md5,
    sha1: image.sha1,
    sha256: image.sha256,
    filesKey: files.key,
    filesSize: files.size,
    filesIndexKey: filesIndex.key,
    filesIndexSize: filesIndex.size,
    completedAt: new Date(endedAt),
  };
}
