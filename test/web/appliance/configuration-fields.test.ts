/** Each field of the configuration has a form and an explanation in the docs. Otherwise its record gives the reason. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { configuration } from "#lib/configuration/document";
import docs from "../../../docs/api/configuration.md?raw";
import { applianceOwner } from "../../support/appliance-owner.ts";
import { fieldsIn } from "../../support/fields.ts";
import { pageOf, type Page } from "../../support/html.ts";

const fields = fieldsIn(configuration.shape);

/** The field names of the settings' forms and of new list entries, by page. */
const settings = new Map<string, string[]>();
const entries = new Map<string, string[]>();

beforeAll(async () => {
  const { firefox, id } = await applianceOwner();
  // Some fields need a base system with packages for them.
  await env.DB.prepare(
    `UPDATE base_systems SET facts = json_set(facts, '$.firstBoot', json('{"cloud-init":["hello"]}'),
       '$.automaticUpdates', json('{"security":["hello"]}'), '$.diskEncryption', json('{"passphrase":["hello"],"tang":["hello"]}'),
       '$.fileSystem', json('{"xfs":["hello"]}'))`,
  ).run();
  const at = `/appliance/${id}/configuration`;
  const first = await pageOf(firefox.get(`${at}/general`));
  for (const link of first.querySelectorAll("nav.side a")) {
    const path = link.getAttribute("href") ?? "";
    const page = await pageOf(firefox.get(path));
    settings.set(path.slice(at.length + 1), namesIn(page, "form:not([id])"));
    entries.set(path.slice(at.length + 1), namesIn(page, "form#new-entry"));
  }
});

const namesIn = (page: Page, form: string): string[] =>
  [...page.querySelectorAll(`.narrow-form ${form} [name]`)].map((one) => one.getAttribute("name") ?? "");

const pagesWith = (names: readonly string[], forms: typeof settings): string[] =>
  [...forms].filter(([, all]) => names.every((name) => all.includes(name))).map(([at]) => at);

const named = (some: typeof fields) => some.map((field) => [field.path, field] as const);

describe("a field of the configuration", () => {
  it.each(named(fields.filter(({ part }) => part.question?.page !== undefined)))(
    "%s is on the page that its record names, and on no other",
    (path, { part }) => {
      expect(pagesWith([path], settings)).toEqual([part.question?.page]);
    },
  );

  it.each(named(fields.filter(({ part }) => part.question?.page === undefined && part.notAsked === undefined)))(
    "%s is in the form of its list's entries",
    (path, { list }) => {
      const ofList = fields.filter((other) => list !== undefined && other.list === list).map(({ name }) => name);
      const names = list === undefined ? [path.replace(/.*\//, "")] : ofList;
      expect(pagesWith(names, entries)).toHaveLength(1);
    },
  );

  it.each(fields.filter(({ part }) => part.notAsked).map(({ path, part }) => [path, part.notAsked ?? ""]))(
    "%s has no form: %s",
    (path, why) => {
      expect(pagesWith([path], settings)).toEqual([]);
      expect(why).toMatch(/^[A-Z].+\.$/);
    },
  );

  it("is in docs/api/configuration.md", () => {
    const missing = fields.filter(({ name }) => !docs.includes(`\`${name}\``)).map(({ path }) => path);
    expect(missing).toEqual([]);
  });
});
