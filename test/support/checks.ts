import { env } from "cloudflare:workers";
import { expect } from "vitest";
import {
  attemptHeader,
  TestdriveClaimAnswer,
  type CheckReport,
  type CheckResult,
  type TestdriveClaim,
} from "#lib/contract/index";
import { testdriveObject } from "#domain/testdrives/testdrive";
import { findTestdrive } from "#storage/testdrives";
import { checkReport } from "./check-report.ts";
import { visit, type Client } from "./client.ts";
import { putConfiguration } from "./configurations.ts";
import { createAppliance, startBuild } from "./factories.ts";
import { fakeAgent } from "./fake-agent.ts";
import { db } from "./testdrives.ts";

const json = "application/json";

/** A build whose checks wait for an agent. */
export async function checkedBuild(
  tux: Client,
  configuration: object = { checks: [{ kind: "login" }, { kind: "port_closed", port: 23 }] },
) {
  const applianceId = await createAppliance(tux);
  expect((await putConfiguration(tux, applianceId, configuration)).status).toBe(200);
  const buildId = await startBuild(tux, applianceId);
  await (await fakeAgent()).buildsSuccessfully(buildId);
  return { applianceId, buildId };
}

/** The runs on the image of a build, newest first. */
export const runsOf = async (tux: Client, buildId: number) =>
  (await (await tux.get(`/builds/${buildId}/checks`, { headers: { accept: json } })).json<{ check_runs: Run[] }>())
    .check_runs;
export interface Run {
  id: number;
  state: string;
  message?: string;
  login_seconds?: number;
  console?: string;
  machine_kept_until?: string;
  checks: { kind: string; expected: string; outcome?: string; seen?: string }[];
}

/** Claims a testdrive as an agent. */
export async function claim(
  canCheck = true,
  more: object = {},
  agentToken: string = env.AGENT_TOKEN,
): Promise<TestdriveClaim | null> {
  const answer = await visit("/agent/testdrives/claim", {
    method: "POST",
    headers: { authorization: `Bearer ${agentToken}`, "content-type": json },
    body: JSON.stringify({ vnc: null, ...(canCheck && { canCheck: true }), ...more }),
  });
  return TestdriveClaimAnswer.parse(await answer.json()).testdrive;
}

/** The claim of this build's checks. */
export async function claimOf(buildId: number, abilities: object = {}): Promise<TestdriveClaim> {
  const claimed = await claim(true, abilities);
  if (claimed?.buildId !== buildId) throw new Error("the checks were not offered");
  return claimed;
}

/** Sends an agent's report. */
export const reported = (
  { testdriveId, token }: TestdriveClaim,
  results: CheckResult[],
  more: Partial<CheckReport> = {},
) =>
  visit(`/agent/testdrives/${testdriveId}/checks`, {
    method: "POST",
    headers: { authorization: `Bearer ${env.AGENT_TOKEN}`, [attemptHeader]: token, "content-type": json },
    body: JSON.stringify(checkReport(results, more)),
  });

/** An agent that claims the checks of this build, reports, and ends its session. */
export async function finishes(
  buildId: number,
  results: CheckResult[],
  more: Partial<CheckReport> = {},
  abilities: object = {},
): Promise<void> {
  const claimed = await claimOf(buildId, abilities);
  expect((await reported(claimed, results, more)).status).toBe(204);
  await endSession(claimed);
}

/** Ends the session that checks an image. */
export async function endSession({ testdriveId }: TestdriveClaim): Promise<void> {
  const row = await findTestdrive(db, testdriveId);
  if (row) await testdriveObject(env, row).stop();
}
