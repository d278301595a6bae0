import { imageTypes } from "#lib/contract/index";
import type { Context } from "hono";
import { z } from "zod";
import { spend } from "#domain/accounts/rates";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { deleteAppliance } from "#domain/appliances/deletion";
import { startBuild } from "#domain/builds/start";
import { Refusal } from "#domain/refusal";
import { findAppliance, type Appliance } from "#storage/appliances";
import { factory, type WebEnv } from "../../factory.ts";
import { counted, cut } from "../../parts/words.ts";
import type { Result } from "../../result.ts";
import { withSession } from "../../session.ts";
import { submit } from "../../submit.ts";
import { askBeforeDeleting } from "./chosen-delete.tsx";
import { chosenPath } from "./chosen.tsx";
import { showAppliances } from "./list.tsx";

/** `delete 12` deletes only appliance 12, whatever is checked. */
const Chosen = z.object({
  act: z.string().regex(/^(?:build|delete|delete \d{1,15}|yes, delete)$/, "Choose what to do."),
});

/** Builds or deletes several appliances. The result lists those that were refused, with the reasons. */
export const chosenActs = factory
  .createApp()
  .use(chosenPath, withSession)
  .post(chosenPath, (c) =>
    submit(c, {
      fields: Chosen,
      again: showAppliances,
      act: async ({ act }, { all }) => {
        const [what, only] = act.split(/ (?=\d)/);
        const chosen = await ownOf(c, only === undefined ? all("appliance") : [only]);
        if (what === "delete") return await askBeforeDeleting(c, chosen);
        const result = what === "build" ? await buildAll(c, chosen) : await deleteAll(c, chosen);
        return { to: "/appliances", result };
      },
    }),
  );

/** The maximum in one request, which is more than one page shows. */
const most = 100;

/** Ignores ids of appliances that are gone or belong to someone else. */
async function ownOf(c: Context<WebEnv>, ids: readonly string[]): Promise<Appliance[]> {
  const numbers = [...new Set(ids)].filter((id) => /^\d{1,15}$/.test(id)).slice(0, most);
  const found = await Promise.all(numbers.map((id) => findAppliance(c.var.db, c.var.account.id, Number(id))));
  const own = found.flatMap((appliance) => appliance ?? []);
  if (own.length > 0) return own;
  throw new Refusal("invalid_value", { message: "Choose at least one appliance: check the box before its name." });
}

async function buildAll(c: Context<WebEnv>, chosen: readonly Appliance[]): Promise<Result> {
  const { db, account, baseUrl } = c.var;
  const services = { env: c.env, db };
  const refused = await refusalsOf(chosen, async ({ id: applianceId, imageType }) => {
    await spend(services, account.id, "builds");
    const request = { applianceId, imageType, force: false, multi: false, baseUrl, allowedTypes: imageTypes };
    await startBuild(services, account, request);
  });
  const started = chosen.length - refused.length;
  return resultOf(started === 0 ? "No build has started." : `${counted(started, "build")} started.`, refused);
}

async function deleteAll(c: Context<WebEnv>, chosen: readonly Appliance[]): Promise<Result> {
  const services = { env: c.env, db: c.var.db };
  const refused = await refusalsOf(chosen, async ({ id }) => {
    await deleteAppliance(services, await getOwnAppliance(services.db, c.var.account.id, id));
  });
  const gone = chosen.length - refused.length;
  return resultOf(gone === 0 ? "Nothing is deleted." : `${counted(gone, "appliance")} deleted.`, refused);
}

/** Acts on one appliance after the other. Returns the names of the refused ones with the reasons. */
async function refusalsOf(chosen: readonly Appliance[], act: (one: Appliance) => Promise<void>): Promise<string[]> {
  const refused: string[] = [];
  for (const one of chosen) {
    try {
      await act(one);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused.push(`${cut(one.name, 60)}: ${cut(error.message, 160)}`);
    }
  }
  return refused;
}

/** The result travels in a cookie, which holds at most 4,096 bytes. */
const mostTold = 2_500;

function resultOf(text: string, refused: readonly string[]): Result {
  if (refused.length === 0) return { text };
  let room = mostTold;
  const named = refused.filter((each) => (room -= encodeURIComponent(each).length) > 0);
  const more = refused.length - named.length;
  return { text, refused: more === 0 ? named : [...named, `And ${counted(more, "other")}.`] };
}
