import type { Context } from "hono";
import { z } from "zod";
import { changeConfiguration, shownConfiguration, type ShownConfiguration } from "#domain/configuration/of-appliance";
import { Refusal } from "#domain/refusal";
import { factory, type WebEnv } from "../../../factory.ts";
import { Button } from "../../../parts/button.tsx";
import { Content } from "../../../parts/column.tsx";
import { Choice, Field, Select, TextArea } from "../../../parts/field.tsx";
import { Form } from "../../../parts/form.tsx";
import { submit } from "../../../submit.ts";
import { appliancePage } from "../appliance-page.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { changeOf, shownValue } from "./document.ts";
import { sections, type Section, type Setting } from "./sections.ts";
import { usersPage, UsersForm, usersSection } from "./users.tsx";

const route = `${applianceRoute}/configuration`;

/** The pages of the configuration, one for each section. */
export const configurationPage = factory
  .createApp()
  .use(route, ...withOwnAppliance)
  .use(`${route}/*`, ...withOwnAppliance)
  .get(route, (c) => c.redirect(applianceAt(c.var.appliance.id, "configuration/general")))
  .route("/", usersPage(showSection))
  .get(`${route}/:section`, (c) => showSection(c))
  .post(`${route}/:section`, (c) =>
    submit(c, {
      fields: z.record(z.string(), z.string()),
      again: showSection,
      act: async (values) => {
        const { db, account, appliance } = c.var;
        const section = sectionOf(c);
        const change = changeOf(section.settings, values);
        await changeConfiguration({ env: c.env, db }, { accountId: account.id, appliance }, { change });
        const to = applianceAt(appliance.id, `configuration/${section.path}`);
        return { to, result: { text: `${section.title}: saved.` } };
      },
    }),
  );

const all: readonly Section[] = [...sections.slice(0, 3), usersSection, ...sections.slice(3)];

function sectionOf(c: Context<WebEnv>): Section {
  const path = new URL(c.req.url).pathname.split("/").at(-1);
  const section = all.find((one) => one.path === path);
  if (!section) throw new Refusal("invalid_value", { reason: "unknown", message: "There is no such page." });
  return section;
}

async function showSection(c: Context<WebEnv>): Promise<Response> {
  const { account, appliance } = c.var;
  const section = sectionOf(c);
  const shown = await shownConfiguration(c.env, account.id, appliance);
  const content = (
    <Content look="split side-first">
      <Side at={applianceAt(appliance.id, "configuration")} current={section} />
      <div class="stack narrow-form">
        <h2 class="as-h1">{section.title}</h2>
        {section === usersSection ? <UsersForm shown={shown} /> : <SectionForm section={section} shown={shown} />}
      </div>
    </Content>
  );
  return await appliancePage(c, content, { tab: "configuration", title: section.title });
}

const Side = ({ at, current }: { at: string; current: Section }) => (
  <nav class="side" aria-label="Configuration">
    <ul>
      {all.map((section) => (
        <li>
          <a href={`${at}/${section.path}`} aria-current={section === current ? "page" : undefined}>
            {section.title}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

const SectionForm = ({ section, shown }: { section: Section; shown: ShownConfiguration }) => (
  <Form action={applianceAt(shown.id, `configuration/${section.path}`)} class="stack">
    <fieldset class="panel stack">
      <legend class="hidden">{section.title}</legend>
      {section.settings.map((setting) => (
        <SettingField setting={setting} value={shownValue(shown, setting)} />
      ))}
    </fieldset>
    <div class="row">
      <Button look="primary" icon="check">
        Save
      </Button>
    </div>
  </Form>
);

const SettingField = ({ setting, value }: { setting: Setting; value: string }) => {
  const { path: name, label, kind, hint, options = [] } = setting;
  const field = { name, label, value, ...(hint !== undefined && { hint }) };
  switch (kind) {
    case "switch":
      return (
        <Choice name={name} value="true" isChecked={value === "true"} isSwitch>
          {label}
        </Choice>
      );
    case "choice": {
      const isKnown = options.some(([each]) => each === value);
      return <Select {...field} options={isKnown ? options : [[value, value], ...options]} />;
    }
    case "lines":
      return <TextArea {...field} also={{ rows: 4 }} />;
    case "script":
      return <TextArea {...field} look="mono" also={{ rows: 12, spellcheck: "false" }} />;
    default:
      return <Field {...field} type={kind === "number" ? "number" : "text"} />;
  }
};
