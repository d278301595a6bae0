import type { Context } from "hono";
import { z } from "zod";
import type { ConfigurationChange } from "#domain/configuration/change";
import { changeConfiguration, type ShownConfiguration } from "#domain/configuration/of-appliance";
import { Refusal } from "#domain/refusal";
import { factory, type WebEnv } from "../../../factory.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice, Field } from "../../../parts/field.tsx";
import { Form, Hidden } from "../../../parts/form.tsx";
import { submit } from "../../../submit.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";
import type { Section } from "./sections.ts";

export const usersSection: Section = { path: "users", title: "Users", settings: [] };

const User = z.object({
  name: z.string({ error: "Enter a name." }),
  password: z.string().optional(),
  group: z.string().optional(),
  shell: z.string().optional(),
  homedir: z.string().optional(),
  remove: z.string().optional(),
});

/** One form for each user, and one for a new one. */
export const usersPage = (again: (c: Context<WebEnv>) => Promise<Response>) =>
  factory.createApp().post(`${applianceRoute}/configuration/users`, (c) =>
    submit(c, {
      fields: User,
      fieldOf: { missing_parameter: "password" },
      again,
      act: async ({ remove, ...user }) => {
        const { db, account, appliance } = c.var;
        const { users: before } = appliance.configuration;
        const isNew = before.every(({ name }) => name !== user.name);
        if (isNew && user.password === undefined) {
          throw new Refusal("missing_parameter", { message: "A new user needs a password." });
        }
        const given = Object.fromEntries(Object.entries(user).filter(([, value]) => value !== undefined));
        const wanted = { ...given, name: user.name };
        // The others are named alone: what they have stays.
        const kept = before
          .filter(({ name }) => remove === undefined || name !== user.name)
          .map(({ name }) => (name === user.name ? wanted : { name }));
        const users = isNew ? [...kept, wanted] : kept;
        const change: ConfigurationChange = { users };
        await changeConfiguration({ env: c.env, db }, { accountId: account.id, appliance }, { change });
        const text = remove === undefined ? `${user.name} is saved.` : `${user.name} is removed.`;
        return { to: applianceAt(appliance.id, "configuration/users"), result: { text } };
      },
    }),
  );

export const UsersForm = ({ shown }: { shown: ShownConfiguration }) => {
  const action = applianceAt(shown.id, "configuration/users");
  return (
    <>
      {shown.configuration.users.map((user) => (
        <Form action={action} id={`user-${user.name}`} class="panel stack">
          <h3>{user.name}</h3>
          <Hidden fields={{ name: user.name }} />
          <Field
            name="password"
            label="New password"
            type="password"
            hint="Empty: it stays as it is."
            also={{ autocomplete: "new-password" }}
          />
          <div class="fields">
            <Field name="group" label="Group" value={user.group} />
            <Field name="shell" label="Shell" value={user.shell} />
            <Field name="homedir" label="Home directory" value={user.homedir} />
          </div>
          {user.name !== "root" && (
            <Choice name="remove" value="true">
              Remove {user.name}
            </Choice>
          )}
          <div class="row">
            <Button icon="check" about={user.name}>
              Save
            </Button>
          </div>
        </Form>
      ))}
      <Form action={action} id="new-user" class="panel stack">
        <h3>A new user</h3>
        <div class="fields">
          <Field name="name" label="Name" />
          <Field name="password" label="Password" type="password" also={{ autocomplete: "new-password" }} />
        </div>
        <div class="row">
          <Button icon="plus">Add</Button>
        </div>
      </Form>
    </>
  );
};
