import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import { changeConfiguration, type ShownConfiguration } from "#domain/configuration/of-appliance";
import { changedMeanwhile, Refusal } from "#domain/refusal";
import { configurationOf } from "#model/configuration";
import type { WebEnv } from "../../../factory.ts";
import { Button } from "../../../parts/button.tsx";
import { FaultsOf, Form, Hidden } from "../../../parts/form.tsx";
import { submit } from "../../../submit.ts";
import { faultIn } from "./document.ts";
import { FieldOf } from "./form-field.tsx";
import type { Entry, EntryField, ListOf } from "./lists.ts";

/** Identifies an entry. One that was changed in the meantime has another mark. */
const markOf = (entry: Entry): string => createHash("sha256").update(JSON.stringify(entry)).digest("hex").slice(0, 16);

const idOf = (entry: Entry): string => `entry-${markOf(entry)}`;
const newId = "new-entry";

const Sent = z.record(z.string(), z.string());

interface ListPlace {
  list: ListOf;
  /** The address of the page. */
  to: string;
  again: (c: Context<WebEnv>) => Promise<Response>;
}

/** Adds, changes or removes an entry. */
export const changeEntry = (c: Context<WebEnv>, { list, to, again }: ListPlace): Promise<Response> =>
  submit(c, {
    fields: Sent,
    faultOf: (refusal) => faultIn(refusal, list.fields),
    again,
    act: async (sent) => {
      const { db, account, appliance } = c.var;
      const before = configurationOf(appliance);
      const entries = list.entriesOf(before);
      const { entry, after } = edited(list, entries, sent);
      const precondition = ({ configuration }: ShownConfiguration) => {
        if (JSON.stringify(list.entriesOf(configuration)) !== JSON.stringify(entries)) throw changedMeanwhile();
      };
      const change = list.changeTo(after, before);
      await changeConfiguration({ env: c.env, db }, { accountId: account.id, appliance }, { change, precondition });
      const name = list.nameOf(entry).slice(0, 200);
      return { to, result: { text: `${name} is ${after.length < entries.length ? "removed" : "saved"}.` } };
    },
  });

/** The entry of the form, and the changed list. */
function edited(
  list: ListOf,
  entries: readonly Entry[],
  { entry: mark, remove, ...sent }: Entry,
): { entry: Entry; after: readonly Entry[] } {
  if (mark === undefined) {
    const entry = newEntry(list, entries, sent);
    return { entry, after: [...entries, entry] };
  }
  const index = entries.findIndex((one) => markOf(one) === mark);
  const old = entries[index];
  if (!old) throw changedMeanwhile();
  if (remove !== undefined) return { entry: old, after: entries.toSpliced(index, 1) };
  const entry = { ...keysOf(list, old), ...sentOf(list, sent) };
  return { entry, after: entries.with(index, entry) };
}

const keysOf = ({ fields }: ListOf, entry: Entry): Entry =>
  Object.fromEntries(fields.filter(({ isKey }) => isKey).map(({ name }) => [name, entry[name] ?? ""]));

/** An empty password stays as it is, and so does an empty number. Other empty fields are empty. */
const sentOf = ({ fields }: ListOf, sent: Entry): Entry =>
  Object.fromEntries(
    fields
      .filter(({ isKey }) => !isKey)
      .filter(({ name, kind }) => sent[name] !== undefined || (kind !== "password" && name !== "uid"))
      .map(({ name }) => [name, sent[name] ?? ""]),
  );

function newEntry(list: ListOf, entries: readonly Entry[], sent: Entry): Entry {
  const given = list.fields.filter(({ name }) => sent[name] !== undefined);
  const entry = Object.fromEntries(given.map(({ name }) => [name, sent[name] ?? ""]));
  for (const { name, label, isKey, kind } of list.fields) {
    if (sent[name] === undefined && (isKey || kind === "password")) throw fault(name, `${label} is needed`);
  }
  const isSame = (one: Entry) => JSON.stringify(keysOf(list, one)) === JSON.stringify(keysOf(list, entry));
  const key = list.fields.findLast(({ isKey }) => isKey)?.name;
  if (key !== undefined && entries.some(isSame)) throw fault(key, `There is ${list.nameOf(entry)} already`);
  return entry;
}

const fault = (name: string, why: string) => new Refusal("invalid_value", { message: `${name}: ${why}.` });

interface ListFormsProps {
  list: ListOf;
  shown: ShownConfiguration;
  action: string;
  /** The page has nothing else. */
  isAlone: boolean;
  /** Of users: passwords that everyone knows, by the user's name. */
  known: ReadonlyMap<string, string>;
}

/** A form for each entry, and one for a new one. */
export const ListForms = ({ list, shown, action, isAlone, known }: ListFormsProps) => {
  const entries = list.entriesOf(shown.configuration);
  return (
    <>
      {!isAlone && <h2>{list.title}</h2>}
      {list.about !== undefined && <p class="quiet">{list.about}</p>}
      <FaultsOf action={action} shown={[newId, ...entries.map(idOf)]} />
      {entries.map((entry) => (
        <Form action={action} id={idOf(entry)} class="panel stack">
          <Hidden fields={{ entry: markOf(entry) }} />
          <h3 class="breaks">{list.nameOf(entry)}</h3>
          <Fields
            fields={list.fields.filter(({ isKey }) => !isKey)}
            entry={entry}
            known={known.get(list.nameOf(entry))}
          />
          <div class="row spread">
            <Button icon="check" about={list.nameOf(entry)}>
              Save
            </Button>
            {!list.isFixed?.(entry) && (
              <Button name="remove" value="true" look="plain" icon="trash-2" about={list.nameOf(entry)}>
                Remove
              </Button>
            )}
          </div>
        </Form>
      ))}
      <Form action={action} id={newId} class="panel stack">
        <h3>{list.titleOfNew}</h3>
        <Fields fields={list.fields} />
        <div class="row">
          <Button icon="plus">Add</Button>
        </div>
      </Form>
    </>
  );
};

interface FieldsProps {
  fields: readonly EntryField[];
  /** Undefined for a new one. */
  entry?: Entry;
  /** Its password, if everyone knows it. */
  known?: string | undefined;
}

const Fields = ({ fields, ...entry }: FieldsProps) => (
  <>
    {fields.some(isShort) && (
      <div class="fields">
        {fields.filter(isShort).map((field) => (
          <One field={field} {...entry} />
        ))}
      </div>
    )}
    {fields
      .filter((field) => !isShort(field))
      .map((field) => (
        <One field={field} {...entry} />
      ))}
  </>
);

const isShort = ({ kind }: EntryField): boolean => kind !== "lines" && kind !== "switch";

/** An entry does not show its password: an empty field leaves it as it is. */
const One = ({ field, entry, known }: Omit<FieldsProps, "fields"> & { field: EntryField }) => {
  if (!entry) return <FieldOf field={field} value={field.initially} />;
  const isPassword = field.kind === "password";
  const stays =
    known === undefined || known === ""
      ? "Empty: it stays as it is."
      : `Now: ${known}, the template's, which everyone knows. Empty: it stays.`;
  const shown = isPassword ? { label: "New password", hint: stays } : { hint: undefined };
  return <FieldOf field={{ ...field, ...shown }} value={entry[field.name] ?? ""} />;
};
