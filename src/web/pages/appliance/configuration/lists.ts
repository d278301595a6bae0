import { databaseTypes } from "#documents/configuration";
import type { ConfigurationChange } from "#domain/configuration/change";
import { Refusal } from "#domain/refusal";
import type { Configuration } from "#model/configuration";
import type { FormField } from "./form-field.tsx";

/** An entry of a list, as its form has it. */
export type Entry = Readonly<Record<string, string>>;

export interface EntryField extends FormField {
  /** It identifies the entry: only a new one has a field for it. */
  isKey?: true;
  /** The value of a new entry. */
  initially?: string;
}

/** A list of a configuration: a form for each entry, and one for a new one. */
export interface ListOf {
  /** Above it, if the page has something else too. */
  title?: string;
  about?: string;
  /** "A new volume". */
  titleOfNew: string;
  fields: readonly EntryField[];
  entriesOf: (configuration: Configuration) => readonly Entry[];
  nameOf: (entry: Entry) => string;
  isFixed?: (entry: Entry) => boolean;
  /** The entries are users of the image. */
  hasLogins?: true;
  /** What an entry omits stays as it is, such as a password. */
  changeTo: (entries: readonly Entry[], before: Configuration) => ConfigurationChange;
}

const on = "true";

const databaseWords: Readonly<Record<(typeof databaseTypes)[number], string>> = {
  pgsql: "PostgreSQL",
  mysql: "MySQL or MariaDB",
};

export const users: ListOf = {
  titleOfNew: "A new user",
  fields: [
    { name: "name", label: "Name", kind: "line", isKey: true },
    { name: "password", label: "Password", kind: "password" },
    { name: "group", label: "Group", kind: "line", initially: "users" },
    { name: "shell", label: "Shell", kind: "line", initially: "/bin/bash" },
    { name: "homedir", label: "Home directory", kind: "line", hint: "Default: below /home." },
    { name: "uid", label: "Number (uid)", kind: "number", hint: "Default: the next free one." },
  ],
  entriesOf: (configuration) =>
    configuration.users.map(({ uid, name, group, shell, homedir }) => ({
      uid: String(uid),
      name,
      group,
      shell,
      homedir,
    })),
  nameOf: ({ name = "" }) => name,
  isFixed: ({ name }) => name === "root",
  hasLogins: true,
  changeTo: (entries) => ({
    users: entries.map(({ name = "", uid, ...others }) => ({
      ...others,
      name,
      ...(uid !== undefined && { uid: numberOf("uid", uid) }),
    })),
  }),
};

export const volumes: ListOf = {
  title: "Volumes",
  about: "Directories without a volume are on the root volume.",
  titleOfNew: "A new volume",
  fields: [
    { name: "path", label: "Directory", kind: "line", hint: "Such as /srv." },
    { name: "size", label: "Size in MB", kind: "number" },
  ],
  entriesOf: ({ lvm }) => lvm.volumes.map(({ path, sizeMb }) => ({ path, size: String(sizeMb) })),
  nameOf: ({ path = "" }) => path,
  changeTo: (entries) => ({
    lvm: { volumes: entries.map(({ path = "", size = "" }) => ({ path, sizeMb: numberOf("size", size) })) },
  }),
};

export const autostarts: ListOf = {
  title: "Programs that start at each boot",
  titleOfNew: "A new program",
  fields: [
    { name: "command", label: "Command", kind: "line" },
    { name: "user", label: "As the user", kind: "line", initially: "root" },
    { name: "description", label: "Description", kind: "line" },
    { name: "enabled", label: "Start it", kind: "switch", initially: on },
  ],
  entriesOf: (configuration) =>
    configuration.autostarts.map(({ command, user, description, enabled }) => ({
      command,
      user,
      description,
      enabled: enabled ? on : "",
    })),
  nameOf: ({ command = "" }) => command,
  changeTo: (entries) => ({
    autostarts: entries.map(({ command = "", user, description, enabled }) => ({
      command,
      ...(user && { user }),
      description: description ?? "",
      enabled: enabled === on,
    })),
  }),
};

export const databases: ListOf = {
  about:
    "The first boot creates these users and their databases. The server itself is a package: add it to the software.",
  titleOfNew: "A new user",
  fields: [
    {
      name: "type",
      label: "Server",
      kind: "choice",
      isKey: true,
      options: databaseTypes.map((type) => [type, databaseWords[type]]),
    },
    { name: "username", label: "User", kind: "line", isKey: true },
    { name: "password", label: "Password", kind: "password" },
    {
      name: "database_list",
      label: "May use the databases",
      kind: "line",
      hint: "Separated by commas. A database of several users belongs to the first.",
    },
  ],
  entriesOf: (configuration) =>
    configuration.databases.flatMap(({ type, users: own }) =>
      own.map((user) => ({ type, username: user.username, database_list: user.databases.join(", ") })),
    ),
  nameOf: ({ type, username = "" }) => `${username} (${databaseWords[type === "mysql" ? type : "pgsql"]})`,
  changeTo: (entries, before) => ({
    databases: databaseTypes.flatMap((type) => {
      const own = entries.filter((entry) => entry["type"] === type);
      const isEmpty = before.databases.some((one) => one.type === type && one.users.length === 0);
      return own.length > 0 || isEmpty ? [{ type, users: own.map(databaseUser) }] : [];
    }),
  }),
};

const databaseUser = ({ username = "", password, database_list: names = "" }: Entry) => ({
  username,
  ...(password !== undefined && { password }),
  databases: names.split(/[,\s]+/).filter((name) => name !== ""),
});

export const agreements: ListOf = {
  about: "Shown before the first login. Anyone who does not accept them cannot use the system.",
  titleOfNew: "A new agreement",
  fields: [{ name: "eula", label: "Text", kind: "lines", rows: 10 }],
  entriesOf: ({ eulas }) => eulas.map((eula) => ({ eula })),
  nameOf: ({ eula = "" }) => eula.trim().split("\n")[0]?.slice(0, 80) ?? "",
  changeTo: (entries) => ({ eulas: entries.map(({ eula = "" }) => eula) }),
};

function numberOf(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Refusal("invalid_value", { message: `${name}: must be a number.` });
}
