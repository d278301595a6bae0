import type { Context } from "hono";
import type { z } from "zod";
import { runToCompletion } from "#http/run-to-completion";
import { spending } from "#domain/accounts/rates";
import type { Services } from "#domain/services";
import { findOffers, type Offer, type Offers } from "#domain/repositories/offers";
import { effectBetween, effectOf, type SoftwareEffect } from "#domain/software/effect";
import type { SoftwareChange } from "#domain/software/change";
import { resolve } from "#domain/software/resolution";
import { loadSoftware, type ApplianceSoftware } from "#domain/software/resolution-request";
import { listUsable } from "#domain/repositories/of-appliance";
import { listRpms } from "#storage/rpms";
import { factory, type WebEnv } from "../../../factory.ts";
import { Content } from "../../../parts/column.tsx";
import { urlToContinue } from "../../../session.ts";
import { appliancePage } from "../appliance-page.tsx";
import { applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { softwareActions } from "./actions.ts";
import { Conflicts } from "./conflicts.tsx";
import { ownPackageActions, OwnPackages } from "./own-packages.tsx";
import { Repositories } from "./repositories.tsx";
import { Query } from "./asked.ts";
import { Found } from "./search.tsx";
import { Bans, Selected } from "./selected.tsx";
import type { Looked, ShownSoftware } from "./shown.ts";
import { Weights } from "./weights.tsx";
import { effectOrConflict } from "./words.ts";

/** The page of the software: search, selection, repositories, and why it does not resolve. */
export const softwarePage = factory
  .createApp()
  .use(`${applianceRoute}/software/*`, ...withOwnAppliance)
  .get(`${applianceRoute}/software`, (c) => showSoftware(c))
  // The effect of the hit that has the focus or the pointer.
  .get(`${applianceRoute}/software/effect`, async (c) => {
    const { package: name, pattern } = c.req.query();
    const effect = await effectOfAdding(c, pattern === undefined ? ["package", name ?? ""] : ["pattern", pattern]);
    return c.json({ text: effectOrConflict(effect), isConflict: effect.state !== "solved" });
  })
  .route("/", softwareActions(showSoftware))
  .route("/", ownPackageActions(showSoftware));

const noChange: SoftwareChange = {
  addPackages: [],
  removePackages: [],
  addPatterns: [],
  removePatterns: [],
  banPackages: [],
  unbanPackages: [],
  addRepositories: [],
  removeRepositories: [],
};

async function showSoftware(c: Context<WebEnv>): Promise<Response> {
  // A refused form is shown again with the same hits.
  const seen = await readSoftware(c, Query.parse(askedIn(c)));
  return await appliancePage(c, <View seen={seen} />, { tab: "software", title: "Software", hasToast: true });
}

function askedIn(c: Context<WebEnv>): Record<string, string> {
  if (c.req.method === "GET") return c.req.query();
  const from = new URL(urlToContinue(c.var.baseUrl, c.req.header("referer")), c.var.baseUrl);
  return Object.fromEntries(from.searchParams);
}

/** Reads the same data as the API's search and status, with their limits. */
async function readSoftware(c: Context<WebEnv>, asked: z.output<typeof Query>): Promise<ShownSoftware> {
  const { db, account, appliance } = c.var;
  const services = { env: c.env, db };
  const software = await loadSoftware(db, appliance);
  const [resolution, now, found] = await spending(services, { accountId: account.id, what: "reads" }, async () => {
    const solved = await runToCompletion(c, resolve(services, software));
    return await Promise.all([
      solved,
      effectBetween(services, { software, wanted: software }, c.req.raw.signal),
      searched(services, { software, resolution: solved }, asked),
    ]);
  });
  const [visible, uploads] = await Promise.all([
    listUsable(db, account.id, appliance),
    listRpms(db, account.id, appliance.baseSystem),
  ]);
  const used = new Set(software.repositories.map(({ id }) => id));
  const usable = visible.filter(({ id, importState }) => !used.has(id) && importState !== "failed");
  const { q, most, at } = asked;
  const look = asked.look ? await lookAt(c, { software, found, name: asked.look }) : undefined;
  const search = { q, allFields: asked.all_fields !== undefined, most, found, look };
  return { appliance, software, resolution, now, uploads, usable, search, at };
}

const searched = async (
  services: Services<Pick<Env, "BLOBS">>,
  { software, resolution }: Pick<ShownSoftware, "software" | "resolution">,
  { q, all_fields, most }: z.output<typeof Query>,
): Promise<Offers | undefined> =>
  q === ""
    ? undefined
    : await findOffers(services, software, {
        q,
        allFields: all_fields !== undefined,
        limit: most,
        installed: resolution.state === "solved" ? resolution.packages : [],
      });

interface LookRequest {
  software: ApplianceSoftware;
  found: Offers | undefined;
  name: string;
}

/** The effect of adding a hit, or of a selected one: the software without it, compared with the current software. */
async function lookAt(c: Context<WebEnv>, { software, found, name }: LookRequest): Promise<Looked | undefined> {
  const kind = found?.offers.find((one) => one.name === name)?.kind;
  if (kind === undefined) return undefined;
  const isIt = (one: { kind: string; name: string }) => one.kind === kind && one.name === name;
  if (!software.selection.some(isIt)) return { name, effect: await effectOfAdding(c, [kind, name]) };
  const without = { ...software, selection: software.selection.filter((one) => !isIt(one)) };
  return {
    name,
    effect: await simulated(c, (services, signal) =>
      effectBetween(services, { software: without, wanted: software }, signal),
    ),
  };
}

function effectOfAdding(c: Context<WebEnv>, [kind, name]: [Offer["kind"], string]): Promise<SoftwareEffect> {
  const { account, appliance } = c.var;
  const change = { ...noChange, [kind === "package" ? "addPackages" : "addPatterns"]: [name] };
  return simulated(c, (services, signal) => effectOf(services, { appliance, accountId: account.id, change, signal }));
}

/** Counts a simulation as the API does. */
const simulated = (
  c: Context<WebEnv>,
  simulate: (services: Services<Pick<Env, "BLOBS">>, signal: AbortSignal) => Promise<SoftwareEffect>,
): Promise<SoftwareEffect> => {
  const services = { env: c.env, db: c.var.db };
  const act = () => runToCompletion(c, simulate(services, c.req.raw.signal));
  return spending(services, { accountId: c.var.account.id, what: "effects" }, act);
};

const View = ({ seen }: { seen: ShownSoftware }) => (
  <Content>
    <Conflicts seen={seen} />
    <div class="split">
      <div class="stack">
        <Found seen={seen} />
        <Weights seen={seen} />
        <OwnPackages seen={seen} />
      </div>
      <div class="stack">
        <Selected seen={seen} />
        <Repositories seen={seen} />
        <Bans seen={seen} />
      </div>
    </div>
  </Content>
);
