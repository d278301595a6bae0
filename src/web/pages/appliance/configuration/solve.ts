import { z } from "zod";
import { changeConfiguration } from "#domain/configuration/of-appliance";
import { wrongValues } from "#domain/configuration/check";
import { factory } from "../../../factory.ts";
import { errorPage } from "../../../error-page.tsx";
import { submit } from "../../../submit.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";
import { changeOf } from "./document.ts";
import { sections } from "./sections.ts";

const Solution = z.object({ path: z.string(), value: z.string() });

/** The button of a problem that one setting solves. */
export const solve = factory.createApp().post(`${applianceRoute}/configuration/solve`, (c) =>
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
