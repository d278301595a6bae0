import type { Context } from "hono";
import { z } from "zod";
import { changeConfiguration, faultsOfChange, type ShownConfiguration } from "#domain/configuration/of-appliance";
import { wrongValues } from "#domain/configuration/check";
import { changedMeanwhile, type Fault } from "#domain/refusal";
import { configurationOf } from "#lib/configuration/stored";
import { listSshKeys } from "#storage/account-ssh-keys";
import type { WebEnv } from "../../../factory.ts";
import { linesIn } from "../../../lines-in.ts";
import { Button } from "../../../parts/button.tsx";
import { FaultsOf, Form, Hidden, useForm, useRefused } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { submit } from "../../../submit.ts";
import { faultsIn } from "./document.ts";
import { FieldOf } from "./form-field.tsx";
import type { Entry, EntryField, ListOf } from "./lists.ts";
import { markOf } from "./mark.ts";
import { SaveRow } from "./view.tsx";

const idOf = (entry: Entry): string => `entry-${markOf(entry)}`;
const newId = "new-entry";

const Sent = z.record(z.string(), z.string());

interface ListPage {
  list: ListOf;
  /** The address of the page. */
  to: string;
  again: (c: Context<WebEnv>) => Promise<Response>;
}

/** Adds, changes or removes an entry. */
export const changeEntry = (c: Context<WebEnv>, { list, to, again }: ListPage): Promise<Response> =>
  submit(c, {
    fields: Sent,
    faultsOf: (refusal) => faultsIn(refusal, list.fields),
    again,
    act: async (given) => {
      const { db, account, appliance } = c.var;
      const sent = given["my_keys"] === undefined ? given : withKeys(given, await listSshKeys(db, account.id));
      const whose = { accountId: account.id, appliance };
      const before = configurationOf(appliance);
      const entries = list.entriesOf(before);
      const { entry, after, faults } = edited(list, entries, sent);
      const precondition = ({ configuration }: ShownConfiguration) => {
        if (JSON.stringify(list.entriesOf(configuration)) !== JSON.stringify(entries)) throw changedMeanwhile();
      };
      const change = list.changeTo(after, before);
      if (faults.length > 0) throw wrongValues(withOthers(faults, await faultsOfChange(c.env, whose, change)));
      await changeConfiguration({ env: c.env, db }, whose, { change, precondition });
      const name = list.nameOf(entry).slice(0, 200);
      return { to, result: { text: `${name} is ${after.length < entries.length ? "removed" : "saved"}.` } };
    },
  });

/** The sent entry with the account's stored SSH keys added. */
const withKeys = (sent: Entry, keys: readonly string[]): Entry => ({
  ...sent,
  ssh_keys: [...new Set([...linesIn(sent["ssh_keys"] ?? ""), ...keys])].join("\n"),
});

/** Adds the other faults, but only one fault for each field. */
const withOthers = (faults: readonly Fault[], others: readonly Fault[]): Fault[] => [
  ...faults,
  ...others.filter(({ path }) => !faults.some((one) => path.endsWith(`/${one.path}`))),
];

interface Edited {
  /** The entry of the form. */
  entry: Entry;
  /** The changed list. */
  after: readonly Entry[];
  faults: readonly Fault[];
}

function edited(list: ListOf, entries: readonly Entry[], { entry: mark, remove, ...given }: Entry): Edited {
  const { sent, faults } = withNumbers(list, given);
  if (mark === undefined) {
    const entry = newEntry(list, sent);
    // If the entry were in the list twice, other checks would report both.
    const after = isTaken(list, entries, entry) ? entries : [...entries, entry];
    return { entry, after, faults: [...faults, ...faultsOfNew(list, entries, entry)] };
  }
  const index = entries.findIndex((one) => markOf(one) === mark);
  const old = entries[index];
  if (!old) throw changedMeanwhile();
  if (remove !== undefined) return { entry: old, after: entries.toSpliced(index, 1), faults: [] };
  const entry = { ...keysOf(list, old), ...sentOf(list, sent) };
  return { entry, after: entries.with(index, entry), faults: [...faults, ...(list.faultsOf?.(entry, old) ?? [])] };
}

/** The sent values, with 0 for each invalid number, and the faults. */
function withNumbers({ fields }: ListOf, given: Entry): { sent: Entry; faults: Fault[] } {
  const wrong = fields.filter(({ name, kind }) => kind === "number" && !/^\d{1,9}$/.test(given[name] ?? "0"));
  return {
    sent: { ...given, ...Object.fromEntries(wrong.map(({ name }) => [name, "0"])) },
    faults: wrong.map(({ name }) => ({ path: name, why: "must be a number" })),
  };
}

const keysOf = ({ fields }: ListOf, entry: Entry): Entry =>
  Object.fromEntries(fields.filter(({ isKey }) => isKey).map(({ name }) => [name, entry[name] ?? ""]));

/** The fields to change. An empty field clears its value, except for passwords and user ids, which stay as they are. */
const sentOf = ({ fields }: ListOf, sent: Entry): Entry =>
  Object.fromEntries(
    fields
      .filter(({ isKey }) => !isKey)
      .filter(({ name, kind }) => sent[name] !== undefined || (kind !== "password" && name !== "uid"))
      .map(({ name }) => [name, sent[name] ?? ""]),
  );

const newEntry = ({ fields }: ListOf, sent: Entry): Entry =>
  Object.fromEntries(fields.filter(({ name }) => sent[name] !== undefined).map(({ name }) => [name, sent[name] ?? ""]));

function faultsOfNew(list: ListOf, entries: readonly Entry[], entry: Entry): Fault[] {
  const { fields, insteadOfPassword = "" } = list;
  const missing = fields.filter(
    ({ name, isKey, kind }) =>
      entry[name] === undefined && (isKey || (kind === "password" && entry[insteadOfPassword] === undefined)),
  );
  const [key] = isTaken(list, entries, entry) ? fields.filter(({ isKey }) => isKey).slice(-1) : [];
  const taken = key ? [{ path: key.name, why: `There is ${list.nameOf(entry)} already` }] : [];
  return [...taken, ...missing.map(({ name, label }) => ({ path: name, why: `${label} is needed` }))];
}

const isTaken = (list: ListOf, entries: readonly Entry[], entry: Entry): boolean =>
  list.fields.some(({ isKey }) => isKey) &&
  entries.some((one) => JSON.stringify(keysOf(list, one)) === JSON.stringify(keysOf(list, entry)));

interface ListFormsProps {
  list: ListOf;
  shown: ShownConfiguration;
  /** The address of the page. */
  at: string;
  /** The publicly known passwords of users, by the user's name. */
  known: ReadonlyMap<string, string>;
  /** The number of SSH keys that the account has stored, which forms of users show. */
  ownKeys: number;
}

/** The entries, each with a form that can be opened, and a form for a new one. */
export const ListForms = ({ list, shown, at, known, ownKeys }: ListFormsProps) => {
  const action = `${at}/entries`;
  const entries = list.entriesOf(shown.configuration);
  return (
    <div class="stack" data-list-used-with={list.usedWith}>
      {list.about !== undefined && <p class="quiet">{list.about}</p>}
      <FaultsOf action={action} shown={[newId, ...entries.map(idOf)]} />
      {entries.length > 0 && (
        <Panel id="entries" title={list.title} count={entries.length} isFlush>
          <ul class="rows">
            {entries.map((entry) => (
              <li>
                <OneEntry list={list} entry={entry} at={at} known={known.get(list.nameOf(entry))} ownKeys={ownKeys} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Form action={action} id={newId} class="panel stack" swap={swapOf(list)}>
        <h3>{list.titleOfNew}</h3>
        <Fields fields={fieldsFor(list, undefined)} />
        <div class="row">
          <Button icon="plus">Add</Button>
          {ownKeys > 0 && <MyKeys words="Add with my SSH keys" />}
        </div>
      </Form>
    </div>
  );
};

/** A refused form with a password stays on its page, whose field keeps what was typed. */
const swapOf = ({ fields }: ListOf): "main" | undefined =>
  fields.some(({ kind }) => kind === "password") ? "main" : undefined;

const fieldsFor = ({ fields }: ListOf, entry: Entry | undefined): EntryField[] =>
  fields.filter(({ isKey, isFor }) => !(isKey && entry) && (isFor?.(entry) ?? true));

interface OneEntryProps extends Pick<ListFormsProps, "list" | "at" | "ownKeys"> {
  entry: Entry;
  /** Its password, if that is publicly known. */
  known: string | undefined;
}

const OneEntry = ({ list, entry, at, known, ownKeys }: OneEntryProps) => {
  const action = `${at}/entries`;
  const name = list.nameOf(entry);
  const facts = [...(list.factsOf?.(entry) ?? []), known !== undefined && known !== "" && "password of the template"];
  return (
    <details open={useRefused(action, idOf(entry))}>
      <summary class="line">
        <b class="grow breaks">{name}</b>
        <span class="quiet">{facts.filter((fact) => fact !== false).join(", ")}</span>
        <Icon name="chevron-right" />
      </summary>
      <Form action={action} id={idOf(entry)} class="body stack" swap={swapOf(list)} countsUnsaved>
        <Hidden fields={{ entry: markOf(entry) }} />
        <Fields fields={fieldsFor(list, entry)} entry={entry} known={known} />
        <SaveRow discardTo={at} about={name}>
          {ownKeys > 0 && <MyKeys words="Save with my SSH keys" about={name} />}
          {!list.isFixed?.(entry) && (
            <Button name="remove" value="true" look="plain danger" icon="trash-2" about={name}>
              Remove
            </Button>
          )}
        </SaveRow>
      </Form>
    </details>
  );
};

/** Sends the form with the account's stored keys. */
const MyKeys = ({ words, about }: { words: string; about?: string }) => (
  <Button name="my_keys" value="add" look="plain" icon="key-round" about={about}>
    {words}
  </Button>
);

interface FieldsProps {
  fields: readonly EntryField[];
  /** Undefined for a new entry. */
  entry?: Entry;
  /** Its password, if that is publicly known. */
  known?: string | undefined;
}

const Fields = ({ fields, ...entry }: FieldsProps) => {
  const more = fields.filter(({ isMore }) => isMore);
  const faults = useForm().given?.faults ?? {};
  return (
    <>
      <Group fields={fields.filter(({ isMore }) => !isMore)} {...entry} />
      {more.length > 0 && (
        <details class="more" open={more.some(({ name }) => faults[name] !== undefined)}>
          <summary>More: {more.map(({ label }) => label.toLowerCase()).join(", ")}</summary>
          <Group fields={more} {...entry} />
        </details>
      )}
    </>
  );
};

/** Short fields are side by side, before the others. */
const Group = ({ fields, ...entry }: FieldsProps) => (
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

/** A form does not show the password of its entry. An empty field leaves it unchanged. */
const One = ({ field, entry, known }: Omit<FieldsProps, "fields"> & { field: EntryField }) => {
  if (!entry) return <FieldOf field={field} value={field.initially} />;
  if (field.kind !== "password")
    return <FieldOf field={field.isMore ? { ...field, hint: undefined } : field} value={entry[field.name] ?? ""} />;
  const stays =
    known === undefined || known === ""
      ? "Empty: it stays as it is."
      : `Now: ${known}, the template's, which everyone knows. Empty: it stays.`;
  return <FieldOf field={{ ...field, label: "New password", hint: stays }} value="" />;
};
