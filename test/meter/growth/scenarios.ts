import { browserWith, sessionOf } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../../support/factories.ts";
import { bytesOf, type FakeAgent } from "../../support/fake-agent.ts";
import { publishedAppliance, sendText } from "../../support/gallery.ts";
import { copyRow } from "../../support/many-rows.ts";
import { messagesOfSweep, takeChores } from "../../support/sweep.ts";
import { begun, tusClient } from "../../support/uploads.ts";
import { endedTestdrive, report, runningDrive, statusOf, until } from "../../support/testdrives.ts";

/** An account, and the objects that the scenarios use. */
export interface World {
  tux: Client;
  agent: FakeAgent;
  page: ReturnType<typeof browserWith>;
  /** A published appliance, and its first image. */
  applianceId: number;
  buildId: number;
  /** A testdrive that has ended. */
  driveId: number;
}

export async function theWorld(): Promise<World> {
  const tux = await signedIn();
  const { applianceId, buildId } = await publishedAppliance(tux);
  const { agent } = await createBuild(tux);
  await sendText(tux, "POST", `/gallery/appliances/${applianceId}/comments`, { body: "A comment" });
  const driveId = await endedTestdrive(tux, buildId);
  return { tux, agent, applianceId, buildId, driveId, page: browserWith((await sessionOf(tux)).secret) };
}

/** The account's own history: builds without an image, and ended testdrives. */
export async function addHistory(
  { buildId, driveId }: World,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const now = String(Date.now());
  const range = { from: from + 1, times: to - from };
  const uid = "'own-' || i";
  const noImage = {
    image_key: "NULL",
    file_size: "iif(i % 4, NULL, one.file_size)",
    expired_at: `iif(i % 4, NULL, ${now})`,
  };
  await copyRow("builds", {
    id: buildId,
    ...range,
    changes: {
      ...noImage,
      // One in four had an image that has expired.
      status: "CASE i % 4 WHEN 0 THEN 'finished' WHEN 1 THEN 'failed' WHEN 2 THEN 'error' ELSE 'cancelled' END",
      version: "'9.0.' || i",
      uid,
      download_token: uid,
      completed_at: now,
    },
  });
  await copyRow("testdrives", {
    id: driveId,
    ...range,
    changes: { uid, page_token: uid, state: "'ended'", ended_at: now },
  });
}

/** The work of users, agents and the sweep. Each may run several times. */
export async function doAll(world: World): Promise<void> {
  await callApi(world);
  await upload(world);
  await openPages(world);
  await build(world);
  await drive(world);
  await sweepOnce();
}

async function callApi({ tux, applianceId, buildId }: World): Promise<void> {
  const gallery = `/gallery/appliances/${applianceId}`;
  for (const path of [
    "/account",
    "/account/limits",
    "/account/audit_log",
    "/account/images?package=busybox",
    "/account/running_builds",
    "/overview",
    "/appliances",
    `/appliances/${applianceId}`,
    `/appliances/${applianceId}/status`,
    `/appliances/${applianceId}/configuration`,
    `/appliances/${applianceId}/software`,
    `/appliances/${applianceId}/software/installed`,
    `/appliances/${applianceId}/software/search?q=busybox`,
    `/appliances/${applianceId}/software/search?q=busybox&all_repos=true&all_fields=true`,
    `/appliances/${applianceId}/repositories`,
    `/appliances/${applianceId}/gpg_keys`,
    `/appliances/${applianceId}/sharing`,
    `/appliances/${applianceId}/sharing_warnings`,
    `/appliances/${applianceId}/vex`,
    `/files?appliance_id=${applianceId}`,
    `/rpms?base_system=tiny-1.0`,
    `/repositories?base_system=tiny-1.0`,
    `/repositories?filter=busybox`,
    `/template_sets`,
    `/builds?appliance_id=${applianceId}`,
    `/builds/${buildId}`,
    `/builds/${buildId}/advisories`,
    `/builds/${buildId}/rebuilds`,
    `/builds/${buildId}/updates`,
    "/uploads",
    `/running_builds?appliance_id=${applianceId}`,
    `/testdrives`,
    "/gallery/appliances?latest",
    "/gallery/appliances?popular",
    `/gallery/appliances?username=${tux.username}`,
    "/gallery/appliances?search=kiosk",
    gallery,
    `${gallery}/versions`,
    `${gallery}/rating`,
    `${gallery}/comments`,
    `${gallery}/software`,
    `${gallery}/images`,
  ])
    await succeeded(path, tux.get(path));
  await succeeded("add", tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "busybox" }));
  // The refusal suggests another name.
  await (await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "busybax" })).text();
  const statement = `/appliances/${applianceId}/vex/CVE-2026-1`;
  await succeeded("state", tux.put(`${statement}?status=under_investigation&text=Soon`, ""));
  await succeeded("withdraw", tux.delete(statement));
  await succeeded("rate", tux.post(`${gallery}/rating`, { rating: "4" }));
}

async function upload({ tux, applianceId }: World): Promise<void> {
  const tus = tusClient(tux);
  const id = await begun(tus, { appliance_id: applianceId, filename: crypto.randomUUID() }, 4);
  await succeeded("upload a part", tus.send(id, 0, "ab", { "content-length": "2" }));
  await succeeded("upload the rest", tus.send(id, 2, "cd"));
  await succeeded("end", tus.end(id));
}

async function openPages({ page, applianceId }: World): Promise<void> {
  for (const path of [
    "/",
    "/gallery",
    "/gallery?order=rating",
    "/appliances",
    `/appliance/${applianceId}`,
    `/appliance/${applianceId}/build`,
    `/appliance/${applianceId}/software`,
    `/appliance/${applianceId}/share`,
    "/status",
    "/account",
    `/gallery/${applianceId}`,
  ])
    await succeeded(path, page.get(path));
}

async function succeeded(what: string, asked: Promise<Response>): Promise<void> {
  const answer = await asked;
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${what}: ${answer.status} ${text.slice(0, 300)}`);
}

async function build({ tux, agent }: World): Promise<void> {
  const applianceId = await createAppliance(tux);
  const buildId = await startBuild(tux, applianceId);
  const attempt = await agent.claimsBuild(buildId);
  await attempt.beats({ percent: 10 });
  await attempt.writesLog(0, "a line\n");
  await attempt.uploads(bytesOf(`image of ${buildId}`));
  await succeeded("finish", attempt.finishes());
  await succeeded("delete", tux.delete(`/builds/${buildId}`));
  await succeeded("delete", tux.delete(`/appliances/${applianceId}`));
}

async function drive({ tux }: World): Promise<void> {
  const running = await runningDrive(tux);
  report(running.control, { type: "stopped", reason: "" });
  await until(async () => ((await statusOf(running)).state === "ended" ? true : undefined));
}

async function sweepOnce(): Promise<void> {
  for (const message of await messagesOfSweep()) await takeChores([message], { KEEP_IMAGES_DAYS: "30" });
}
