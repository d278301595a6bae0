import type { Context } from "hono";
import type { Child } from "hono/jsx";
import { hasAccess, inheritedAccess } from "#domain/appliances/inherited-access";
import type { Look } from "#domain/appliances/look";
import { listBuildsOf } from "#domain/builds/ended";
import { configurationOf } from "#lib/configuration/stored";
import { listSshKeys } from "#storage/account-ssh-keys";
import { listImages } from "#storage/builds-of-appliance";
import { listOverlayFiles } from "#storage/overlay-files";
import { listPublishedVersions } from "#storage/publications";
import { listReaders } from "#storage/shares";
import { factory, type WebEnv } from "../../factory.ts";
import { Content } from "../../parts/column.tsx";
import { CommandLine } from "../../parts/command-line.tsx";
import { appliancePage, lookAtAppliance } from "./appliance-page.tsx";
import { RunningTestdrives, runningTestdrives } from "../testdrive/running.tsx";
import { Inherited } from "./inherited.tsx";
import { About } from "./overview-about.tsx";
import { LastBuilds, RunningBuilds, shownBuilds } from "./overview-builds.tsx";
import { Contents } from "./overview-contents.tsx";
import type { Overview } from "./overview-seen.ts";
import { ChangesSince, sinceLastImage } from "./overview-since.tsx";
import { applianceAt, applianceRoute, withAppliance } from "./with-appliance.ts";

export const overviewPage = factory
  .createApp()
  .get(applianceRoute, ...withAppliance, (c) => showOverview(c))
  // The API's `edit_url`.
  .get("/appliance/edit/:id{\\d+}", (c) => c.redirect(applianceAt(Number(c.req.param("id"))), 301));

/**
 * The first page of an appliance: running builds, the last builds, and its contents. `fresh` is content that is shown
 * once, at the top.
 */
export async function showOverview(c: Context<WebEnv>, fresh?: Child): Promise<Response> {
  const look = await lookAtAppliance(c);
  const seen = await overviewOf(c, look);
  // A page that shows something only once does not reload itself.
  const refreshSeconds = look.running.length > 0 && fresh === undefined ? 10 : undefined;
  return await appliancePage(c, <OverviewView seen={seen} fresh={fresh} />, {
    tab: "overview",
    title: "Overview",
    seen: look,
    refreshSeconds,
    refreshIds: "status running builds tab-build",
  });
}

async function overviewOf(c: Context<WebEnv>, look: Look): Promise<Overview> {
  const { db, account, appliance } = c.var;
  const isOwn = appliance.accountId === account.id;
  const { base, repositories, selection } = look.rows;
  const [builds, images, files, readers, published, testdrives] = await Promise.all([
    listBuildsOf(db, { account, access: { by: "key" } }, { appliance, limit: shownBuilds }),
    isOwn ? listImages(db, appliance.id) : [],
    listOverlayFiles(db, appliance.id),
    isOwn ? listReaders(db, appliance.id) : [],
    listPublishedVersions(db, appliance.id),
    runningTestdrives(c, appliance.id),
  ]);
  const inherited = isOwn ? await inheritedAccess({ env: c.env, db }, appliance) : { users: [], keyFiles: [] };
  const ownKeys = hasAccess(inherited) ? (await listSshKeys(db, account.id)).length : 0;
  const { since, firmware } = isOwn ? await sinceLastImage({ env: c.env, db }, { look, images }) : {};
  return {
    look,
    isOwn,
    inherited,
    ownKeys,
    since,
    firmware,
    efiBootLoader: base?.facts.efiBootLoaders?.[0],
    signedLoader: base?.facts.secureBoot?.[0],
    kernelMaker: base?.facts.unifiedKernel?.[0],
    builds,
    testdrives,
    selection,
    repositories: repositories.length,
    configuration: configurationOf(appliance),
    files: { count: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) },
    readers,
    published: published.at(-1),
    base: base?.facts.title ?? appliance.baseSystem,
  };
}

const OverviewView = ({ seen, fresh }: { seen: Overview; fresh: Child | undefined }) => (
  <Content>
    <div class="split">
      <div class="stack">
        {fresh}
        <Inherited applianceId={seen.look.appliance.id} access={seen.inherited} ownKeys={seen.ownKeys} />
        <RunningTestdrives of={seen.testdrives} />
        <RunningBuilds applianceId={seen.look.appliance.id} running={seen.look.running} />
        <LastBuilds seen={seen} />
        <Contents seen={seen} />
        <CommandLine lines={commands.map((command) => `kiln ${command} ${seen.look.appliance.id}`)} />
      </div>
      <aside class="stack" aria-label="About this appliance">
        <About seen={seen} />
        {seen.since && <ChangesSince since={seen.since} />}
      </aside>
    </div>
  </Content>
);

const commands = ["status", "show", "export"];
