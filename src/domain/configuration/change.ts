import { completeCheck, type ImageType } from "#lib/contract/index";
import type { configurationChange } from "#lib/configuration/document";
import { gigabytes } from "#lib/configuration/settings";
import type { Configuration } from "#lib/configuration/stored";

type User = Configuration["users"][number];
type Database = Configuration["databases"][number];
type Autostart = Configuration["autostarts"][number];

/** Everything that the call can change. Name, version and image type are columns of the appliance's row. */
export interface Configured {
  name: string;
  version: string;
  imageType: ImageType;
  configuration: Configuration;
}

/**
 * Any part of a configuration (compatibility.md, "Configuration"). A list replaces the old list. An absent scalar stays
 * unchanged, even inside a section.
 */
export type ConfigurationChange = NonNullable<(typeof configurationChange)["reads"]>;
type UserChange = NonNullable<ConfigurationChange["users"]>[number];
type DatabaseChange = NonNullable<ConfigurationChange["databases"]>[number];
type AutostartChange = NonNullable<ConfigurationChange["autostarts"]>[number];

/** Applies a change without checking the result. Passwords are in clear text in the argument and in the result. */
export function withChange(before: Configured, change: ConfigurationChange): Configured {
  const { configuration: old } = before;
  const { name, version, imageType, users, databases, autostarts, checks, settings, ...sections } = change;
  return {
    ...merged(before, { name, version, imageType }),
    configuration: {
      ...merged(old, sections),
      users: users ? usersOf(users, old.users) : old.users,
      databases: databases ? databasesOf(databases, old.databases) : old.databases,
      autostarts: autostarts?.map(autostartOf) ?? old.autostarts,
      checks: checks?.map(completeCheck) ?? old.checks,
      settings: settingsOf(settings ?? {}, old.settings),
    },
  };
}

/** Merges a change section by section. A list replaces the old list. */
function merged<T extends object>(old: T, change: object): T {
  const result = { ...old };
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) continue;
    const before: unknown = Reflect.get(old, key);
    Reflect.set(result, key, isSection(before) && isSection(value) ? merged(before, value) : value);
  }
  return result;
}

const isSection = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function settingsOf(
  { diskSizeGb, ...change }: NonNullable<ConfigurationChange["settings"]>,
  old: Configuration["settings"],
): Configuration["settings"] {
  // The sample templates have disks that are smaller than the gigabyte that is shown. Sending that value back must not
  // enlarge them.
  const isShown = diskSizeGb === undefined || diskSizeGb === gigabytes(old.diskSizeMb);
  return merged(old, { ...(isShown ? {} : { diskSizeMb: diskSizeGb * 1024 }), ...change });
}

function usersOf(changes: UserChange[], old: readonly User[]): readonly User[] {
  const known = new Map(old.map((user) => [user.name, user]));
  const taken = new Set(changes.map(({ name, uid }) => uid ?? known.get(name)?.uid));
  const free = freeUids(taken);
  return changes.map((change) => {
    const before = known.get(change.name) ?? usualUser(change.name, () => free.next().value);
    return merged(before, change);
  });
}

function usualUser(name: string, freeUid: () => number): User {
  const usual = { name, password: "", shell: "/bin/bash", sshKeys: [], administrator: false };
  if (name === "root") return { ...usual, uid: 0, group: "root", homedir: "/root" };
  return { ...usual, uid: freeUid(), group: "users", homedir: `/home/${name}` };
}

/** Free uids, beginning at 1000, the first uid for people. */
function* freeUids(taken: ReadonlySet<number | undefined>): Generator<number, never> {
  for (let uid = 1000; ; uid++) if (!taken.has(uid)) yield uid;
}

function databasesOf(changes: DatabaseChange[], old: readonly Database[]): readonly Database[] {
  return changes.map(({ type, users = [] }) => {
    const known = old.filter((database) => database.type === type).flatMap((database) => database.users);
    return {
      type,
      users: users.map((user) => {
        const before = known.find(({ username }) => username === user.username);
        return { ...merged({ password: "", databases: [], ...before }, user), username: user.username };
      }),
    };
  });
}

const autostartOf = ({ command, description = "", enabled = true, user = "root" }: AutostartChange): Autostart => ({
  command,
  description,
  enabled,
  user,
});
