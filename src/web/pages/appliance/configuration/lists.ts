import { autostart, check, database, databaseTypes, databaseUser, user, volume } from "#lib/configuration/lists";
import {
  checkKinds,
  completeCheck,
  isUsedBy,
  kindsOfChecks,
  sentenceOfCheck,
  type CheckKind,
} from "#lib/contract/index";
import { storedConfiguration } from "#lib/configuration/document";
import type { ConfigurationChange } from "#domain/configuration/change";
import type { Fault } from "#domain/refusal";
import type { Configuration } from "#lib/configuration/stored";
import { linesIn } from "../../../lines-in.ts";
import { askedOf } from "./asked-field.ts";
import type { FormField } from "./form-field.tsx";

/** An entry of a list, as values of its form. */
export type Entry = Readonly<Record<string, string>>;

export interface EntryField extends FormField {
  /** This field identifies the entry, so only a new entry shows it. */
  isKey?: true;
  /** The value of a new entry. */
  initially?: string;
  /** Whether an entry has this field. For a new entry, `entry` is undefined. */
  isFor?: (entry: Entry | undefined) => boolean;
  /** Rarely changed, so it is below "More". */
  isMore?: true;
}

/** A list of a configuration: a form for each entry, and one for a new one. */
export interface ListOf {
  title: string;
  about?: string;
  /** For example, "A new volume". */
  titleOfNew: string;
  fields: readonly EntryField[];
  entriesOf: (configuration: Configuration) => readonly Entry[];
  nameOf: (entry: Entry) => string;
  /** The facts to show while an entry is closed. */
  factsOf?: (entry: Entry) => readonly (string | false)[];
  /** A field that a new entry may have instead of a password. */
  insteadOfPassword?: string;
  /** Why an entry cannot be changed to another. */
  faultsOf?: (entry: Entry, old: Entry) => readonly Fault[];
  isFixed?: (entry: Entry) => boolean;
  /** Whether the entries are users of the image. */
  hasLogins?: true;
  /** A switch of the same section. While that is off, the list has no effect. */
  usedWith?: "lvm";
  /** Values that an entry omits stay as they are, such as a password. */
  changeTo: (entries: readonly Entry[], before: Configuration) => ConfigurationChange;
}

const on = "true";

export const users: ListOf = {
  title: "Users",
  about: "Who can log in to the machine. root may do everything; the others may with sudo, if they are administrators.",
  titleOfNew: "A new user",
  fields: [
    { ...askedOf(user, "name"), isKey: true },
    askedOf(user, "password"),
    {
      name: "key_only",
      label: "No password: log in by SSH key alone",
      kind: "switch",
      isFor: (entry) => entry !== undefined,
    },
    { ...askedOf(user, "ssh_keys"), rows: 3 },
    { ...askedOf(user, "administrator"), isFor: (entry) => entry?.["name"] !== "root" },
    { ...askedOf(user, "group"), initially: "users", isMore: true },
    { ...askedOf(user, "shell"), initially: "/bin/bash", isMore: true },
    { ...askedOf(user, "homedir"), isMore: true },
    { ...askedOf(user, "uid"), isMore: true },
  ],
  entriesOf: (configuration) =>
    configuration.users.map(({ uid, name, group, shell, homedir, password, sshKeys, administrator }) => ({
      uid: String(uid),
      name,
      group,
      shell,
      homedir,
      key_only: password === "" ? on : "",
      ssh_keys: sshKeys.join("\n"),
      administrator: administrator ? on : "",
    })),
  nameOf: ({ name = "" }) => name,
  factsOf: ({ ssh_keys: keys = "", administrator, key_only: isKeyOnly }) => [
    administrator === on && "administrator",
    keys !== "" && `${linesIn(keys).length} SSH ${linesIn(keys).length === 1 ? "key" : "keys"}`,
    isKeyOnly === on && "no password",
  ],
  isFixed: ({ name }) => name === "root",
  hasLogins: true,
  insteadOfPassword: "ssh_keys",
  faultsOf: (entry, old) =>
    old["key_only"] === on && entry["key_only"] !== on && entry["password"] === undefined
      ? [{ path: "password", why: "Enter a password" }]
      : [],
  changeTo: (entries) => ({
    users: entries.map(
      ({
        name = "",
        uid,
        group,
        shell,
        homedir,
        password,
        key_only: isKeyOnly,
        ssh_keys: keys = "",
        administrator,
      }) => ({
        name,
        ...(group && { group }),
        ...(shell && { shell }),
        ...(homedir && { homedir }),
        ...(isKeyOnly === on ? { password: "" } : password !== undefined && { password }),
        ...(uid !== undefined && { uid: Number(uid) }),
        sshKeys: linesIn(keys),
        administrator: administrator === on,
      }),
    ),
  }),
};

export const volumes: ListOf = {
  title: "Volumes",
  usedWith: "lvm",
  about: "All other directories are on the root.",
  titleOfNew: "A new volume",
  fields: [askedOf(volume, "path"), askedOf(volume, "size")],
  entriesOf: ({ lvm }) => lvm.volumes.map(({ path, sizeMb }) => ({ path, size: String(sizeMb) })),
  nameOf: ({ path = "" }) => path,
  factsOf: ({ size = "" }) => [`${size} MB`],
  changeTo: (entries) => ({
    lvm: { volumes: entries.map(({ path = "", size = "" }) => ({ path, sizeMb: Number(size) })) },
  }),
};

export const autostarts: ListOf = {
  title: "Programs that start at each boot",
  titleOfNew: "A new program",
  fields: [
    askedOf(autostart, "command"),
    { ...askedOf(autostart, "user"), initially: "root" },
    askedOf(autostart, "description"),
    { ...askedOf(autostart, "enabled"), initially: on },
  ],
  entriesOf: (configuration) =>
    configuration.autostarts.map(({ command, user, description, enabled }) => ({
      command,
      user,
      description,
      enabled: enabled ? on : "",
    })),
  nameOf: ({ command = "" }) => command,
  factsOf: ({ user = "", enabled }) => [`as ${user}`, enabled !== on && "off"],
  changeTo: (entries) => ({
    autostarts: entries.map(({ command = "", user, description, enabled }) => ({
      command,
      ...(user && { user }),
      description: description ?? "",
      enabled: enabled === on,
    })),
  }),
};

/** The fields of a check after its kind, in the order of the form. */
const checkFields = [
  "command",
  "exit",
  "text",
  "port",
  "path",
  "status",
  "megabytes",
  "build",
  "percent",
  "mask",
  "seconds",
] as const;
type CheckField = (typeof checkFields)[number];

/** Reads a check from the texts of its form. The form hides the fields that its kind does not use, but sends them. */
function checkIn(entry: Entry) {
  const kind = checkKinds.find((one) => one === entry["kind"]) ?? "login";
  const given = usedBy(kind).flatMap((field) => {
    const value = isCheckText(field) ? entry[field] : numberIn(entry[field]);
    return value === undefined || value === "" ? [] : [[field, value]];
  });
  return { kind, ...(Object.fromEntries(given) as Partial<Configuration["checks"][number]>) };
}

const usedBy = (kind: CheckKind): CheckField[] => checkFields.filter((field) => isUsedBy(kind, field));
const usedWith = (field: CheckField) => `check-${field}`;

const isCheckText = (field: CheckField): boolean => typeof completeCheck({ kind: "login" })[field] === "string";

const numberIn = (text: string | undefined): number | undefined =>
  text === undefined || text === "" ? undefined : Number(text);

/** Shows no 0, because that stands for a number that the kind of check does not use. */
const shownField = (value: string | number): string => (value === 0 ? "" : String(value));

export const checks: ListOf = {
  title: "Checks",
  about:
    "After each build, an image is booted and checked. The build's page shows what was expected and what was seen. Images that no testdrive can boot are not checked.",
  titleOfNew: "A new check",
  fields: [
    {
      ...askedOf(check, "kind"),
      options: checkKinds.map(
        (kind) => [kind, kindsOfChecks[kind].label, usedBy(kind).map(usedWith).join(" ")] as const,
      ),
    },
    ...checkFields.map((field) => ({ ...askedOf(check, field), usedWith: usedWith(field) })),
  ],
  entriesOf: (configuration) =>
    configuration.checks.map((one) => ({
      kind: one.kind,
      ...Object.fromEntries(checkFields.map((field) => [field, shownField(one[field])])),
    })),
  nameOf: (entry) => sentenceOfCheck(completeCheck(checkIn(entry))),
  changeTo: (entries) => ({ checks: entries.map(checkIn) }),
};

const serverField = askedOf(database, "type");

export const databases: ListOf = {
  title: "Users of databases",
  about:
    "The first boot creates these users and their databases. The server itself is a package: add it to the software.",
  titleOfNew: "A new user",
  fields: [
    { ...serverField, isKey: true },
    { ...askedOf(databaseUser, "username"), isKey: true },
    askedOf(databaseUser, "password"),
    askedOf(databaseUser, "database_list"),
  ],
  entriesOf: (configuration) =>
    configuration.databases.flatMap(({ type, users: own }) =>
      own.map((user) => ({ type, username: user.username, database_list: user.databases.join(", ") })),
    ),
  nameOf: ({ type, username = "" }) => `${username} (${serverField.options?.find(([value]) => value === type)?.[1]})`,
  changeTo: (entries, before) => ({
    databases: databaseTypes.flatMap((type) => {
      const own = entries.filter((entry) => entry["type"] === type);
      const isEmpty = before.databases.some((one) => one.type === type && one.users.length === 0);
      return own.length > 0 || isEmpty ? [{ type, users: own.map(changedDatabaseUser) }] : [];
    }),
  }),
};

const changedDatabaseUser = ({ username = "", password, database_list: names = "" }: Entry) => ({
  username,
  ...(password !== undefined && { password }),
  databases: names.split(/[,\s]+/).filter((name) => name !== ""),
});

export const agreements: ListOf = {
  title: "Agreements",
  about: "Shown before the first login. Anyone who does not accept them cannot use the system.",
  titleOfNew: "A new agreement",
  fields: [{ ...askedOf(storedConfiguration, "eulas"), name: "eula", rows: 10 }],
  entriesOf: ({ eulas }) => eulas.map((eula) => ({ eula })),
  nameOf: ({ eula = "" }) => eula.trim().split("\n")[0]?.slice(0, 80) ?? "",
  changeTo: (entries) => ({ eulas: entries.map(({ eula = "" }) => eula) }),
};
