import type { Context } from "hono";
import { z } from "zod";
import { toItsEnd } from "#api/to-its-end";
import { spend } from "#domain/accounts/rates";
import { effectBetween, effectOf, type SoftwareEffect } from "#domain/software/effect";
import type { SoftwareChange } from "#domain/software/change";
import { resolve } from "#domain/software/resolution";
import { loadSoftware } from "#domain/software/resolution-request";
import { searchSoftware } from "#domain/repositories/search";
import { listUsable } from "#domain/repositories/of-appliance";
import { listRpms } from "#storage/rpms";
import { factory, type WebEnv } from "../../../factory.ts";
import { Content } from "../../../parts/column.tsx";
import { appliancePage } from "../appliance-page.tsx";
import { applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { softwareActions } from "./actions.ts";
import { Conflicts } from "./conflicts.tsx";
import { ownPackageActions, OwnPackages } from "./own-packages.tsx";
import { Repositories } from "./repositories.tsx";
import { Found, maxShown } from "./search.tsx";
import { Bans, Selected } from "./selected.tsx";
import type { ShownSoftware } from "./shown.ts";
import { Weights } from "./weights.tsx";
import { effectOrConflict } from "./words.ts";

const Query = z.object({
  q: z.string().max(255).optional(),
  all_fields: z.string().optional(),
  look: z.string().optional(),
});

/** The page of the software: search, selection, repositories, and why it does not resolve. */
export const softwarePage = factory
  .createApp()
  .use(`${applianceRoute}/software`, ...withOwnAppliance)
  .use(`${applianceRoute}/software/*`, ...withOwnAppliance)
  .get(`${applianceRoute}/software`, (c) => showSoftware(c))
  // What a hit would bring, for the one that has the focus or the pointer.
  .get(`${applianceRoute}/software/effect`, async (c) => {
    const name = c.req.query("package") ?? "";
    await spend({ env: c.env, db: c.var.db }, c.var.account.id, "effects");
    const effect = await effectOfChange(c, { ...noChange, addPackages: [name] });
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
  const { db, account, appliance } = c.var;
  const { q = "", all_fields, look } = Query.parse(c.req.query());
  const software = await loadSoftware(db, appliance);
  const request = { q, allFields: all_fields !== undefined };
  const searched = { appliance, repositories: software.repositories };
  const [found, resolution, now, visible, uploads] = await Promise.all([
    q === ""
      ? undefined
      : searchSoftware({ env: c.env, db }, searched, { ...request, limit: maxShown + 1, detailed: true }),
    resolve({ env: c.env, db }, software),
    toItsEnd(c, effectBetween({ env: c.env, db }, { software, wanted: software }, c.req.raw.signal)),
    listUsable(db, account.id, appliance),
    listRpms(db, account.id, appliance.baseSystem),
  ]);
  const used = new Set(software.repositories.map(({ id }) => id));
  const usable = visible.filter(({ id, importState }) => !used.has(id) && importState !== "failed");
  const looked = look && { name: look, effect: await effectOfChange(c, { ...noChange, addPackages: [look] }) };
  const search = { q, allFields: request.allFields, found, look: looked || undefined };
  const seen: ShownSoftware = { appliance, software, resolution, now, uploads, usable, search };
  return await appliancePage(c, <View seen={seen} />, { tab: "software", title: "Software" });
}

function effectOfChange(c: Context<WebEnv>, change: SoftwareChange): Promise<SoftwareEffect> {
  const { db, account, appliance } = c.var;
  const request = { appliance, accountId: account.id, change, signal: c.req.raw.signal };
  return toItsEnd(c, effectOf({ env: c.env, db }, request));
}

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
