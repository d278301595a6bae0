import type { BuildFinished } from "#contract/index";
import { raiseRelease } from "#domain/version";
import { switchboard } from "#queues/jobs";
import { listAgents } from "#storage/agents";
import { findAnyBuild, saveEnded, saveFinished, saveQueued, saveRunning, type Result } from "#storage/builds";
import { openDatabase, type Database } from "#storage/db";
import type { AgentsSeen, BuildState } from "./build-machine.ts";
import { messageOf } from "./build-progress.ts";
import type { Image } from "./build-uploads.ts";

/** What the agent told of the image that it finished. */
export type Outcome = Omit<BuildFinished, "installed"> & { image: Image };

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

const resultOf = ({ image, fileName, rawSize, compressed, steps, remark }: Outcome, endedAt: number): Result => ({
  message: remark === undefined ? "Finished" : `Finished. ${remark}`,
  imageKey: image.key,
  fileName,
  fileSize: image.size,
  rawSize,
  compressed,
  md5: image.md5,
  sha1: image.sha1,
  sha256: image.sha256,
  steps,
  completedAt: new Date(endedAt),
});
