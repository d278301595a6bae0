import type { Context } from "hono";
import { z } from "zod";
import type { ExaminedRows } from "#domain/appliances/examined-rows";
import { wrongValues } from "#domain/configuration/check";
import {
  changeConfiguration,
  faultsOfChange,
  shownConfiguration,
  type ShownConfiguration,
} from "#domain/configuration/of-appliance";
import { loginsBy } from "#domain/configuration/known-passwords";
import { changedMeanwhile, Refusal } from "#domain/refusal";
import { listSshKeys } from "#storage/account-ssh-keys";
import { findBaseSystem } from "#storage/appliances";
import { listGpgKeys } from "#storage/gpg-keys";
import { factory, type WebEnv } from "../../../factory.ts";
import { submit } from "../../../submit.ts";
import { appliancePage, lookAtAppliance } from "../appliance-page.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { changeOf, faultsIn } from "./document.ts";
import { keyActions, Keys } from "./keys.tsx";
import { changeEntry, ListForms } from "./list.tsx";
import type { ListOf } from "./lists.ts";
import { pictureActions, Pictures } from "./pictures.tsx";
import { sections, type Section } from "./sections.ts";
import { settingsFor, type Setting } from "./settings.ts";
import { markOfSettings, SectionForm, SectionPage, shownMark } from "./view.tsx";
import { errorPage } from "../../../error-page.tsx";

const Solution = z.object({ path: z.string(), value: z.string() });

/** The button of a problem that one setting solves. */
const solve = factory.createApp().post(`${applianceRoute}/configuration/solve`, (c) =>
  submit(c, {
    fields: Solution,
    again: (c) => errorPage(c, { status: 422, message: c.var.given?.fault ?? "This setting cannot be changed here." }),
    act: async ({ path, value }) => {
      const { db, account, appliance } = c.var;
      const section = sections.find(({ settings }) => settings.some(({ name }) => name === path));
      const settings = section?.settings.filter(({ name }) => name === path) ?? [];
      const { change, faults } = changeOf(settings, { values: { [path]: value }, all: () => [] });
      if (!section) throw wrongValues([{ path, why: "is not a setting" }]);
      if (faults.length > 0) throw wrongValues(faults);
      await changeConfiguration({ env: c.env, db }, { accountId: account.id, appliance }, { change });
      const to = applianceAt(appliance.id, `configuration/${section.path}`);
      return { to, result: { text: `${section.title}: saved.` } };
    },
  }),
);

const route = `${applianceRoute}/configuration`;

/** The pages of the configuration, one for each section. */
export const configurationPage = factory
  .createApp()
  .use(`${route}/*`, ...withOwnAppliance)
  .get(route, (c) => c.redirect(applianceAt(c.var.appliance.id, "configuration/general")))
  .route("/", pictureActions(showSection))
  .route("/", keyActions(showSection))
  .route("/", solve)
  .get(`${route}/:section`, (c) => showSection(c))
  .post(`${route}/:section/entries`, (c) => {
    const { list, path } = sectionOf(c);
    if (!list) throw noSuchPage();
    return changeEntry(c, { list, to: addressOf(c, path), again: showSection });
  })
  .post(`${route}/:section`, (c) =>
    submit(c, {
      fields: z.record(z.string(), z.string()),
      faultsOf: (refusal) => faultsIn(refusal, sectionOf(c).settings),
      again: showSection,
      act: async (values, { all }) => {
        const { db, account, appliance } = c.var;
        const section = sectionOf(c);
        const settings = await offeredIn(c, section);
        const { change, faults } = changeOf(settings, { values, all });
        const whose = { accountId: account.id, appliance };
        if (faults.length > 0) throw wrongValues([...faults, ...(await faultsOfChange(c.env, whose, change))]);
        // The form sends every setting of its section, and must not undo what another tab or the API has changed.
        const precondition = (before: ShownConfiguration) => {
          const mark = values[shownMark];
          if (mark !== undefined && mark !== markOfSettings(settings, before)) throw changedMeanwhile();
        };
        await changeConfiguration({ env: c.env, db }, whose, { change, precondition });
        return { to: addressOf(c, section.path), result: { text: `${section.title}: saved.` } };
      },
    }),
  );

const addressOf = (c: Context<WebEnv>, section: string): string =>
  applianceAt(c.var.appliance.id, `configuration/${section}`);

/** The section in the address of a page or of one of its forms. */
function sectionOf(c: Context<WebEnv>): Section {
  const [, path] = /\/configuration\/([^/]+)/.exec(new URL(c.req.url).pathname) ?? [];
  const section = sections.find((one) => one.path === path);
  if (!section) throw noSuchPage();
  return section;
}

const noSuchPage = () => new Refusal("invalid_value", { reason: "unknown", message: "There is no such page." });

async function showSection(c: Context<WebEnv>): Promise<Response> {
  const { env, var: given } = c;
  const { db, account, appliance } = given;
  const section = sectionOf(c);
  const { path, settings, list, title } = section;
  const [shown, seen, ownKeys] = await Promise.all([
    shownConfiguration(env, account.id, appliance),
    lookAtAppliance(c),
    ownKeysFor(c, list),
  ]);
  const { rows } = seen;
  const at = addressOf(c, path);
  const content = (
    <SectionPage at={applianceAt(appliance.id, "configuration")} section={section}>
      {settings.length > 0 && (
        <SectionForm section={section} settings={settingsFor(settings, rows.base?.facts)} shown={shown} />
      )}
      {list && <ListForms list={list} shown={shown} at={at} known={await knownIn(c, list, rows)} ownKeys={ownKeys} />}
      {path === "pictures" && <Pictures appliance={appliance} at={at} />}
      {path === "keys" && <Keys keys={await listGpgKeys(db, appliance.id)} at={at} />}
    </SectionPage>
  );
  return await appliancePage(c, content, { tab: "configuration", title, seen });
}

/** The settings of a section that the appliance's base system can have. */
async function offeredIn(c: Context<WebEnv>, { settings }: Section): Promise<Setting[]> {
  const base = await findBaseSystem(c.var.db, c.var.appliance.baseSystem);
  return settingsFor(settings, base?.facts);
}

/** The users' passwords that are publicly known. */
async function knownIn(
  c: Context<WebEnv>,
  { hasLogins }: ListOf,
  { template }: ExaminedRows,
): Promise<ReadonlyMap<string, string>> {
  const logins = hasLogins ? await loginsBy(c.env, c.var.appliance, template) : [];
  return new Map(logins.map(({ user, password }) => [user, password]));
}

/** How many SSH keys the account could add to a user. */
const ownKeysFor = async (c: Context<WebEnv>, list: ListOf | undefined): Promise<number> =>
  list?.hasLogins ? (await listSshKeys(c.var.db, c.var.account.id)).length : 0;
