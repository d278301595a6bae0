import {
  isEncrypted,
  newPassword,
  encryptSecret,
  encryptSecretAgain,
  decryptSecret,
  type EncryptionKey,
} from "#domain/secrets";
import type { Configuration } from "#lib/configuration/stored";

/* Passwords of users and databases are encrypted in rows. */

/**
 * The configuration with every password in clear text, for its owner and for the hashes of builds. Never log or store
 * it.
 */
export const decrypted = (env: EncryptionKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, (password) => decryptSecret(env, password));

/**
 * Encrypts the passwords of a configuration for storage. Passwords that are unchanged from `before`, the stored
 * configuration, keep their encrypted text, so that saving the same configuration twice writes the same bytes.
 */
export async function encrypted(
  env: EncryptionKey,
  clear: Configuration,
  before?: Configuration,
): Promise<Configuration> {
  const kept = new Map<string, string>();
  if (before) {
    await withPasswords(before, async (password, owner) => {
      if (isEncrypted(password)) kept.set(keyOf(owner, await decryptSecret(env, password)), password);
      return password;
    });
  }
  return await withPasswords(
    clear,
    async (password, owner) => kept.get(keyOf(owner, password)) ?? (await encryptedPassword(env, password)),
  );
}

/**
 * The configuration of a template from its catalogue, or from an older row. Passwords that are still in clear text are
 * encrypted.
 */
export const encryptedIfClear = (env: EncryptionKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, async (password) =>
    isEncrypted(password) ? password : await encryptedPassword(env, password),
  );

/** A user who can only log in with an SSH key has an empty password, which is not encrypted. */
const encryptedPassword = async (env: EncryptionKey, clear: string): Promise<string> =>
  clear === "" ? "" : await encryptSecret(env, clear);

/** The configuration with every password encrypted with the first of the service's keys. */
export const passwordsEncryptedAgain = (env: EncryptionKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, (password) => encryptSecretAgain(env, password));

/** The configuration as it is shown to an account that may read the appliance but does not own it. */
export const withoutPasswords = (stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, () => Promise.resolve(""));

/**
 * The initial configuration of a clone of another account's appliance. Users get their password from the template that
 * the appliance descends from, or else the password of the template's root. If the template is gone, and for databases,
 * the passwords are new and unknown. SSH keys are not copied, because the original's owner could then log in to other
 * people's machines.
 */
export async function forOtherAccount(
  env: EncryptionKey,
  stored: Configuration,
  template: Configuration | undefined,
): Promise<Configuration> {
  const ofTemplate = new Map(template?.users.map(({ name, password }) => [name, password]));
  const known = await withPasswords(stored, async (_, { kind, name }) => {
    const password = kind === "user" ? (ofTemplate.get(name) ?? ofTemplate.get("root")) : undefined;
    return password ?? (await encryptSecret(env, newPassword(16)));
  });
  const users = known.users.map((user) => ({ ...user, sshKeys: [] }));
  // The new owner decides what is built, and who may read uploads.
  const settings = {
    ...known.settings,
    automaticBuilds: "never" as const,
    automaticBuildsAt: "",
    updateUploads: false,
  };
  return await encryptedIfClear(env, { ...known, users, settings });
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
