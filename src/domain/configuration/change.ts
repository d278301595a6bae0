import type { Configuration } from "#domain/configuration/configuration";

/** Fields that may be left out. */
export type Partly<T> = { [K in keyof T]?: T[K] | undefined };

type User = Configuration["users"][number];
type Database = Configuration["databases"][number];
type Autostart = Configuration["autostarts"][number];
type Scripts = Configuration["scripts"];

/** All that the call speaks of; name, version and image type are columns of the appliance's row. */
export interface Configured {
  name: string;
  version: string;
  /** One of the image types, once it is checked. */
  imageType: string;
  configuration: Configuration;
}

/** What is left out comes from the user of that name, or from the usual. */
export type UserChange = Partly<User> & Pick<User, "name">;
/** A password that is left out stays as it is. */
export type DatabaseChange = Pick<Database, "type"> & {
  users: (Partly<Database["users"][number]> & Pick<Database["users"][number], "username">)[];
};
export type AutostartChange = Partly<Autostart> & Pick<Autostart, "command">;

/**
 * Any portion of a configuration (wire.md §2.4). A list that is there replaces the list; a scalar that is not there
 * stays, also inside a section.
 */
export interface ConfigurationChange extends Partly<Omit<Configured, "configuration">> {
  description?: string | undefined;
  website?: string | undefined;
  tags?: string[] | undefined;
  locale?: Partly<Configuration["locale"]> | undefined;
  network?: Partly<Configuration["network"]> | undefined;
  firewall?: Partly<Configuration["firewall"]> | undefined;
  users?: UserChange[] | undefined;
  eulas?: string[] | undefined;
  databases?: DatabaseChange[] | undefined;
  autostarts?: AutostartChange[] | undefined;
  /** `diskSizeGb`: as it is shown; `diskSizeMb`: exactly. */
  settings?: (Partly<Configuration["settings"]> & { diskSizeGb?: number | undefined }) | undefined;
  lvm?: Partly<Configuration["lvm"]> | undefined;
  scripts?: { [K in keyof Scripts]?: Partly<Scripts[K]> | undefined } | undefined;
}

/** The configuration with a change made to it, not yet checked. Passwords on both sides are clear text. */
export function withChange(before: Configured, change: ConfigurationChange): Configured {
  const { configuration: old } = before;
  const { name, version, imageType, description, website, tags, eulas, users, databases } = change;
  return {
    ...before,
    ...given({ name, version, imageType }),
    configuration: {
      ...old,
      ...given({ description, website, tags, eulas }),
      locale: { ...old.locale, ...given(change.locale) },
      network: { ...old.network, ...given(change.network) },
      firewall: { ...old.firewall, ...given(change.firewall) },
      users: users ? usersOf(users, old.users) : old.users,
      databases: databases ? databasesOf(databases, old.databases) : old.databases,
      autostarts: change.autostarts?.map(autostartOf) ?? old.autostarts,
      settings: settingsOf(change.settings ?? {}, old.settings),
      lvm: { ...old.lvm, ...given(change.lvm) },
      scripts: {
        build: { ...old.scripts.build, ...given(change.scripts?.build) },
        boot: { ...old.scripts.boot, ...given(change.scripts?.boot) },
        autoyast: { ...old.scripts.autoyast, ...given(change.scripts?.autoyast) },
      },
    },
  };
}

/** Gigabytes, as the API shows the size of a disk: a rest counts as a whole one. */
export const gigabytes = (megabytes: number): number => Math.ceil(megabytes / 1024);

function settingsOf(
  { diskSizeGb, ...change }: NonNullable<ConfigurationChange["settings"]>,
  old: Configuration["settings"],
): Configuration["settings"] {
  // The sample templates have disks below the gigabyte that is shown; sending that back must not enlarge them.
  const isShown = diskSizeGb === undefined || diskSizeGb === gigabytes(old.diskSizeMb);
  return { ...old, ...(isShown ? {} : { diskSizeMb: diskSizeGb * 1024 }), ...given(change) };
}

function usersOf(changes: UserChange[], old: User[]): User[] {
  const known = new Map(old.map((user) => [user.name, user]));
  const taken = new Set(changes.map(({ name, uid }) => uid ?? known.get(name)?.uid));
  const free = uidsBeside(taken);
  return changes.map((change) => {
    const before = known.get(change.name) ?? usualUser(change.name, () => free.next().value);
    return { ...before, ...given(change) };
  });
}

function usualUser(name: string, freeUid: () => number): User {
  if (name === "root") return { uid: 0, name, password: "", group: "root", shell: "/bin/bash", homedir: "/root" };
  return { uid: freeUid(), name, password: "", group: "users", shell: "/bin/bash", homedir: `/home/${name}` };
}

/** People's uids begin at 1000. */
function* uidsBeside(taken: ReadonlySet<number | undefined>): Generator<number, never> {
  for (let uid = 1000; ; uid++) if (!taken.has(uid)) yield uid;
}

function databasesOf(changes: DatabaseChange[], old: Database[]): Database[] {
  return changes.map(({ type, users }) => {
    const known = old.filter((database) => database.type === type).flatMap((database) => database.users);
    return {
      type,
      users: users.map((user) => {
        const before = known.find(({ username }) => username === user.username);
        return { password: "", databases: [], ...before, ...given(user), username: user.username };
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

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that are undefined. */
function given<T extends object>(fields: T | undefined): Given<T> {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)) as Given<T>;
}
