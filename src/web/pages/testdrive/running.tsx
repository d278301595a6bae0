import type { Context } from "hono";
import { emptyForMs } from "#domain/testdrives/machine";
import { listTestdrives, lookAtTestdrive, type TestdriveLook } from "#domain/testdrives/testdrive";
import { findAnyAppliance } from "#storage/appliances";
import { findAnyBuild } from "#storage/builds";
import type { WebEnv } from "../../factory.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { Notice } from "../../parts/notice.tsx";
import { secondsLeft } from "../../parts/words.ts";

/** One of the person's testdrives that has not ended. */
export interface RunningTestdrive {
  at: string;
  /** "Reading room 0.0.2 oem" */
  title: string;
  /** The remaining time. Undefined while it is starting. */
  seconds: number | undefined;
  isWatched: boolean;
}

/** The person's testdrives. With an appliance id, only those of its builds. */
export async function runningTestdrives(c: Context<WebEnv>, applianceId: number | null): Promise<RunningTestdrive[]> {
  const { db, account } = c.var;
  const live = await listTestdrives({ env: c.env, db }, account.id, applianceId);
  const shown = live.map(async (testdrive): Promise<RunningTestdrive[]> => {
    const [look, build] = await Promise.all([lookAtTestdrive(c.env, testdrive), findAnyBuild(db, testdrive.buildId)]);
    if (!look || look.state.status === "ended" || !build) return [];
    const appliance = await findAnyAppliance(db, build.applianceId);
    const title = `${appliance?.name ?? ""} ${build.version} ${build.imageType}`.trim();
    return [{ at: `/testdrive/${testdrive.id}/${testdrive.pageToken}`, title, ...lifeOf(look, Date.now()) }];
  });
  return (await Promise.all(shown)).flat();
}

function lifeOf({ state }: TestdriveLook, now: number): Pick<RunningTestdrive, "seconds" | "isWatched"> {
  if (state.status !== "running") return { seconds: undefined, isWatched: true };
  const { endsAt, emptySince } = state;
  const end = emptySince === null ? endsAt : Math.min(endsAt, emptySince + emptyForMs);
  return { seconds: Math.max(0, Math.ceil((end - now) / 1000)), isWatched: emptySince === null };
}

/** A link back to each testdrive. The element exists even without any, so that a swap finds it. */
export const RunningTestdrives = ({ of: testdrives }: { of: readonly RunningTestdrive[] }) => (
  <div id="testdrives" class="stack-s">
    {testdrives.map(({ at, title, seconds, isWatched }) => (
      <Notice
        tone="busy"
        solutions={
          <ButtonLink href={at} look="small" icon="monitor" about={`the testdrive of ${title}`}>
            Go back
          </ButtonLink>
        }
      >
        {seconds === undefined
          ? `A testdrive of ${title} is starting.`
          : isWatched
            ? `A testdrive of ${title} is running, ${secondsLeft(seconds)}.`
            : `A testdrive of ${title} is running. No one is connected, so it ends in ${seconds} s.`}
      </Notice>
    ))}
  </div>
);
