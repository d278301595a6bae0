import { isSealed, newPassword, seal, sealAgain, unseal, type SealingKey } from "#domain/secrets";
import type { Configuration } from "#lib/configuration/stored";

/* Passwords of users and databases are sealed in rows. */

/** With every password in clear, for its owner and for the builder's hashes. Never logged, never stored. */
export const opened = (env: SealingKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, (password) => unseal(env, password));

/**
 * What may be stored of a configuration in clear. Passwords that are the same as in `before`, as it was stored, keep
 * their sealed text, so that saving the same configuration twice writes the same.
 */
export async function sealed(env: SealingKey, clear: Configuration, before?: Configuration): Promise<Configuration> {
  const kept = new Map<string, string>();
  if (before) {
    await withPasswords(before, async (password, owner) => {
      if (isSealed(password)) kept.set(keyOf(owner, await unseal(env, password)), password);
      return password;
    });
  }
  return await withPasswords(
    clear,
    async (password, owner) => kept.get(keyOf(owner, password)) ?? (await sealOne(env, password)),
  );
}

/** The configuration of a template as its catalogue has it, or of an older row: seals what is not sealed yet. */
export const sealedIfClear = (env: SealingKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, async (password) => (isSealed(password) ? password : await sealOne(env, password)));

/** A user who logs in by SSH key alone has none, and no one needs to unseal that. */
const sealOne = async (env: SealingKey, clear: string): Promise<string> => (clear === "" ? "" : await seal(env, clear));

/** With every password sealed with the first of the service's keys. */
export const sealedAgain = (env: SealingKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, (password) => sealAgain(env, password));

/** As an account sees it that may read the appliance but does not own it. */
export const withoutPasswords = (stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, () => Promise.resolve(""));

/**
 * What the clone of another account's appliance starts with: users have their passwords of the template that the appliance
 * descends from, or its root's. If the template is gone, and for databases, the passwords are new and unknown. SSH keys are
 * not copied: whoever made the appliance could log in to the machines of others.
 */
export async function forStranger(
  env: SealingKey,
  stored: Configuration,
  template: Configuration | undefined,
): Promise<Configuration> {
  const ofTemplate = new Map(template?.users.map(({ name, password }) => [name, password]));
  const known = await withPasswords(stored, async (_, { kind, name }) => {
    const password = kind === "user" ? (ofTemplate.get(name) ?? ofTemplate.get("root")) : undefined;
    return password ?? (await seal(env, newPassword(16)));
  });
  const users = known.users.map((user) => ({ ...user, sshKeys: [] }));
  return await sealedIfClear(env, { ...known, users });
}

interface Owner {
  kind: "user" | "pgsql" | "mysql";
  name: string;
}

const keyOf = ({ kind, name }: Owner, clear: string): string => JSON.stringify([kind, name, clear]);

async function withPasswords(
  configuration: Configuration,
  change: (password: string, owner: Owner) => Promise<string>,
): Promise<Configuration> {
  const users = configuration.users.map(async (user) => {
    const { name, password } = user;
    return { ...user, password: await change(password, { kind: "user", name }) };
  });
  const databases = configuration.databases.map(async ({ type: kind, users }) => {
    const changed = users.map(async (user) => {
      const { username: name, password } = user;
      return { ...user, password: await change(password, { kind, name }) };
    });
    return { type: kind, users: await Promise.all(changed) };
  });
  const all = await Promise.all([Promise.all(users), Promise.all(databases)]);
  return { ...configuration, users: all[0], databases: all[1] };
}
