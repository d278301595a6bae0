import { imageTypes, isInProgress } from "#lib/contract/index";
import type { Context } from "hono";
import { z } from "zod";
import { pathId } from "#http/params";
import { readLog } from "#api/build-log";
import { findAdvisories } from "#domain/advisories/of-build";
import { cancelBuild, getRunningBuild } from "#domain/builds/build";
import { startBuild } from "#domain/builds/start";
import { listDecidingBuilds } from "#domain/builds/deciding";
import { deleteBuild } from "#domain/builds/deletion";
import { listBuildsOf } from "#domain/builds/ended";
import { chooseVersion } from "#domain/builds/request";
import type { Look } from "#domain/appliances/look";
import { bootServicesOf } from "#domain/images/boot-services";
import { Refusal } from "#domain/refusal";
import { configurationOf } from "#lib/configuration/stored";
import { isUnfinished, type Build } from "#storage/builds";
import { listLastCheckRuns } from "#storage/check-runs";
import { listPublishedVersions } from "#storage/publications";
import { listRebuilds } from "#storage/rebuilds";
import { factory, type WebEnv } from "../../../factory.ts";
import { Content } from "../../../parts/column.tsx";
import { CommandLine } from "../../../parts/command-line.tsx";
import { FaultsOf } from "../../../parts/form.tsx";
import { stillSignedIn, withSession } from "../../../session.ts";
import { submit } from "../../../submit.ts";
import { appliancePage, lookAtAppliance } from "../appliance-page.tsx";
import { showOverview } from "../overview.tsx";
import { RunningTestdrives, runningTestdrives } from "../../testdrive/running.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { LastFailure } from "./failure.tsx";
import { rebuildActs } from "./rebuild-acts.ts";
import { idOfRebuilds } from "./rebuilds.tsx";
import { checkActs } from "./check-acts.ts";
import { idOfChecks } from "./checks.tsx";
import { Finished, hasImage } from "./finished.tsx";
import type { Builds } from "./shown-builds.ts";
import { liveOf } from "./live.tsx";
import { Ended, endOf } from "./ended.tsx";
import { seedForm, testdrivesPath } from "./seeded.tsx";
import { showLog } from "./log.tsx";
import { NewBuild, newBuildForm } from "./new-build.tsx";
import { BuildLog, RunningPart, runningTitle } from "./running.tsx";
import { shownUpdates } from "./updates.tsx";
import { vexActs } from "./vex-acts.ts";
import { UnchangedQuestion, unchangedOf, type Unchanged } from "./unchanged.tsx";
import { Icon } from "../../../parts/icon.tsx";

const oneBuild = `${applianceRoute}/builds/:build{\\d+}`;

const NewBuilds = z.object({
  version: z.string().optional(),
  force: z.string().optional(),
  /** Builds even if nothing has changed. */
  again: z.string().optional(),
});

/**
 * The page on which builds are started, watched and fetched. The head of each page of an appliance starts them, too.
 */
export const buildPage = factory
  .createApp()
  .use(`${applianceRoute}/build`, ...withOwnAppliance)
  .use(`${applianceRoute}/builds`, ...withOwnAppliance)
  .use(`${applianceRoute}/live`, ...withOwnAppliance)
  .use(`${oneBuild}/*`, ...withOwnAppliance)
  .get(`${applianceRoute}/build`, (c) => showBuilds(c))
  // A refused form is shown at this address, so reloading that page opens it.
  .get(`${applianceRoute}/builds`, (c) => c.redirect(applianceAt(c.var.appliance.id, "build"), 303))
  .get(`${applianceRoute}/live`, (c) => liveOf(c))
  .post(`${applianceRoute}/builds`, (c) => {
    let unchanged: Unchanged | undefined;
    return submit(c, {
      fields: NewBuilds,
      rate: "builds",
      // This page's own form is shown again with its values. The forms of the head lead to the overview.
      again: (again) => {
        if (unchanged) return askAgain(again, unchanged);
        return again.var.given?.form === newBuildForm ? showBuilds(again) : showOverview(again);
      },
      fieldOf: { invalid_image_type: "image_type", invalid_version: "version" },
      checks: ({ version }, all) => [() => formatsIn(all), () => checkVersion(c, version)],
      act: async ({ version, force, again }, { all, requestId }) => {
        const { db, account, appliance, baseUrl } = c.var;
        const wanted = formatsIn(all);
        const [first, ...others] = wanted;
        const { id: applianceId } = appliance;
        if (force !== "true" && again !== "true") {
          await checkVersion(c, version);
          const types = imageTypes.filter((type) => wanted.includes(type));
          const asked = { types, version: version ?? appliance.version };
          unchanged = await unchangedOf({ env: c.env, db }, appliance, asked);
          if (unchanged) throw new Refusal("unknown_error", { message: "Nothing has changed." });
        }
        const request = {
          applianceId,
          version,
          force: force === "true",
          multi: false,
          baseUrl,
          allowedTypes: imageTypes,
        };
        await startBuild({ env: c.env, db }, account, { ...request, imageType: first, requestId });
        const more = others.map((imageType) =>
          startOther(imageType, () => startBuild({ env: c.env, db }, account, { ...request, imageType })),
        );
        const text = [`The build of ${first} has started.`, ...(await Promise.all(more))].join(" ");
        return { to: applianceAt(applianceId, "build"), result: { text: text.slice(0, 500) } };
      },
    });
  })
  .post(`${oneBuild}/cancel`, (c) =>
    submit(c, {
      again: (again) => showBuilds(again),
      act: async () => {
        const { db, account } = c.var;
        const id = pathId(c, "build", "invalid_running_build_id");
        const { status } = await getRunningBuild(db, account.id, id);
        await cancelBuild({ env: c.env, db }, account.id, id);
        const text = isUnfinished({ status }) ? "The build is cancelled." : `The build has already ended: ${status}.`;
        return { to: applianceAt(c.var.appliance.id, "build"), result: { text } };
      },
    }),
  )
  .post(`${oneBuild}/delete`, (c) =>
    submit(c, {
      again: (again) => showBuilds(again),
      act: async () => {
        await deleteBuild({ env: c.env, db: c.var.db }, c.var.account.id, pathId(c, "build", "invalid_build_id"));
        return { to: applianceAt(c.var.appliance.id, "build"), result: { text: "The build is deleted." } };
      },
    }),
  )
  .route("/", checkActs(showBuilds))
  .route("/", rebuildActs(showBuilds))
  .route("/", vexActs(showBuilds))
  .get(`${oneBuild}/log`, (c) => showLog(c))
  // The log as text, or as server-sent events for the page that follows it.
  .get("/builds/:build{\\d+}/log", withSession, async (c) => {
    const { db, account } = c.var;
    const buildId = pathId(c, "build", "invalid_running_build_id");
    const from = c.req.query("from") === "0" ? 0 : undefined;
    return await readLog({ env: c.env, db }, { account, buildId, from, stillOpens: () => stillSignedIn(c) }, c.req);
  });

/** The chosen formats. There must be at least one. */
function formatsIn(all: (name: string) => readonly string[]): [string, ...string[]] {
  const [first, ...others] = all("image_type").slice(0, imageTypes.length);
  if (first === undefined) throw new Refusal("invalid_image_type", { message: "Choose at least one format." });
  return [first, ...others];
}

/** Refuses a version that the appliance does not have. */
async function checkVersion({ var: { db, appliance } }: Context<WebEnv>, version: string | undefined): Promise<void> {
  const request = { version, multi: false };
  chooseVersion(appliance, await listDecidingBuilds(db, appliance, request), request);
}

/** The question replaces the message of a refused form. */
async function askAgain(c: Context<WebEnv>, unchanged: Unchanged): Promise<Response> {
  const { given } = c.var;
  c.set("given", given && { ...given, fault: undefined });
  return await showBuilds(c, unchanged);
}

export async function showBuilds(c: Context<WebEnv>, unchanged?: Unchanged): Promise<Response> {
  const { appliance } = c.var;
  const [look, seen, testdrives] = await Promise.all([
    lookAtAppliance(c),
    buildsOf(c),
    runningTestdrives(c, appliance.id),
  ]);
  const { checkRuns, rebuilds } = seen;
  const isRunning = look.running.length > 0;
  const end = isRunning ? undefined : endOf(seen);
  const content = (
    <Content look="stack">
      <FaultsOf action={testdrivesPath} shown={seen.over.map(({ id }) => seedForm(id))} />
      <RunningTestdrives of={testdrives} />
      {unchanged && <UnchangedQuestion unchanged={unchanged} />}
      <div id="ended">{end && <Ended build={end} />}</div>
      <RunningPart applianceId={appliance.id} running={look.running} />
      {look.running[0] && <NotifyButton />}
      {look.running[0] && <BuildLog build={look.running[0]} />}
      <div id="failed">
        <LastFailure seen={seen} />
      </div>
      <NewBuild look={look} />
      <div id="finished">
        <Finished seen={seen} />
      </div>
      <CommandLine
        lines={[`kiln build ${appliance.id} --type ${appliance.imageType} --follow`, `kiln download ${appliance.id}`]}
      />
    </Content>
  );
  const checked = checkRuns.filter(isInProgress).map(({ buildId }) => idOfChecks(buildId));
  const rebuilt = rebuilds.filter(isUnfinished).map(({ rebuildOf }) => idOfRebuilds(rebuildOf ?? 0));
  const changing = [...checked, ...rebuilt];
  const refreshSeconds = isRunning || changing.length > 0 ? 10 : undefined;
  // Empty while only builds run, which `live` shows. At their end it fetches the ids of the checks that start then.
  const refreshIds = changing.join(" ");
  const title = `${titleOf(look.running, end)}Build`;
  return await appliancePage(c, content, { tab: "build", title, seen: look, refreshSeconds, refreshIds });
}

const perPage = 100;

/** A page of the ended builds, with the last run of the checks of each, and the updates of one. */
async function buildsOf(c: Context<WebEnv>): Promise<Builds> {
  const { db, account, appliance, baseUrl } = c.var;
  const before = beforeIn(c.req.query("before"));
  const part = { appliance, before, limit: perPage + 1 };
  const found = await listBuildsOf(db, { account, access: { by: "key" } }, part);
  const over = found.slice(0, perPage);
  const buildIds = over.map(({ id }) => id);
  const { settings, checks } = configurationOf(appliance);
  const [updates, publishedVersions, checkRuns, rebuilds] = await Promise.all([
    shownUpdates(c, over.filter(hasImage)),
    over.length === 0 ? [] : listPublishedVersions(db, appliance.id),
    over.length === 0 ? [] : listLastCheckRuns(db, buildIds),
    over.length === 0 ? [] : listRebuilds(db, buildIds),
  ]);
  return {
    applianceId: appliance.id,
    hasFirstBoot: settings.firstBoot !== "none",
    hasChecks: checks.length > 0,
    publishedVersions,
    checkRuns,
    rebuilds,
    over,
    before,
    hasOlder: found.length > over.length,
    updates,
    advisories: updates && (await findAdvisories({ env: c.env, db: c.var.db }, updates.build)),
    services: updates ? await bootServicesOf(c.env, updates.build) : [],
    baseUrl,
  };
}

/** The id in an address. A missing or invalid one means the newest builds. */
const beforeIn = (given = ""): number | undefined => (/^[1-9]\d{0,14}$/.test(given) ? Number(given) : undefined);

/** The start of the browser tab's title: how far a build is, or that it has ended. */
function titleOf(running: Look["running"], end: Build | undefined): string {
  const start = runningTitle(running);
  if (start !== undefined) return start;
  return end ? `${end.status === "finished" ? "Finished" : "Failed"} · ` : "";
}

/** Starts a build of another format from the same form. If it cannot start now, the first build still runs. */
async function startOther(imageType: string, start: () => Promise<unknown>): Promise<string> {
  try {
    await start();
    return `The build of ${imageType} has started.`;
  } catch (error) {
    if (error instanceof Refusal) return `${imageType}: ${error.message}`;
    throw error;
  }
}

/** Asks the browser for permission, and explains why. It needs a script, and is hidden without one. */
const NotifyButton = () => (
  <p class="row notify" data-notify="" hidden>
    <button class="button small" type="button">
      <Icon name="bell" /> Notify me at the end
    </button>
    <span class="hint">Your browser shows a message when the build ends, as long as this page is open in a tab.</span>
  </p>
);
