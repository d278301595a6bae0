import { Buffer } from "node:buffer";
import type { CheckReport, CheckResult } from "#lib/contract/index";
import { followPassed } from "#domain/channels/follow";
import { shownOf } from "#domain/gallery/screen";
import type { Services } from "#domain/services";
import { contentKey } from "#storage/blobs";
import { findCheckRunOfTestdrive, saveCheckResults, type CheckRun } from "#storage/check-runs";
import type { Database } from "#storage/db";
import { putScreen } from "#storage/screens";

/**
 * Stores an agent's results: first the screenshot, then the row. `late`: another attempt has the run. A repeated report
 * changes nothing. Automatic channels may move.
 */
export async function acceptReport(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  testdriveUid: string,
  report: CheckReport,
): Promise<"stored" | "late" | "wrong"> {
  const run = await findCheckRunOfTestdrive(db, testdriveUid);
  if (!run) return "wrong";
  if (run.results) return await stored(db, run);
  if (run.state !== "running") return "late";
  if (run.checks.length !== report.results.length) return "wrong";
  const screenBlob = await storeScreen(env, report.screen);
  const { loginSeconds, isEmulated, isMachineKept = false } = report;
  const results = report.results.map((result) => ({ ...result, seen: plainText(result.seen) }));
  const found = {
    state: stateOf(results),
    results,
    loginSeconds,
    isEmulated,
    isMachineKept,
    console: plainText(report.console),
  };
  if (await saveCheckResults(db, testdriveUid, { ...found, screenBlob })) return await stored(db, { ...run, ...found });
  if (screenBlob !== null) await env.BLOBS.delete(contentKey(screenBlob));
  return "late";
}

/** Runs again if the report is repeated, so a channel is not forgotten if the first attempt fails here. */
async function stored(db: Database, { buildId, state }: Pick<CheckRun, "buildId" | "state">): Promise<"stored"> {
  if (state === "passed") await followPassed(db, buildId);
  return "stored";
}

/** The state of a run. A check that could not be run is not a fault of the image, but it proves nothing either. */
function stateOf(results: readonly CheckResult[]): CheckRun["state"] {
  if (results.some(({ outcome }) => outcome === "failed")) return "failed";
  return results.every(({ outcome }) => outcome === "passed") ? "passed" : "error";
}

async function storeScreen({ BLOBS: blobs }: Pick<Env, "BLOBS">, screen: string | null): Promise<string | null> {
  const png = screen === null ? undefined : shownOf(Buffer.from(screen, "base64"));
  if (!png) return null;
  const blobId = crypto.randomUUID();
  await putScreen(blobs, blobId, png);
  return blobId;
}

/** Text from a guest, without anything that a terminal or a document would interpret as a command. */
const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff\u202a-\u202e\u2066-\u2069]/g, "");
