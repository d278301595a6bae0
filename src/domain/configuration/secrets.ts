import { decrypt, encrypt, newPassword } from "#domain/secrets";
import type { Configuration } from "#model/configuration";

/** Passwords of users and databases are sealed in rows: AES-GCM, and this before it. Older rows have them in clear. */
const mark = "sealed:";
// The nonce and the tag alone are 28 bytes.
const sealedText = /^sealed:([A-Za-z0-9+/]{38,}={0,2})$/;

/** Of the variables of the Worker. */
export interface ConfigurationKey {
  API_KEY_ENCRYPTION_KEY: string;
}

/** With every password in clear, for its owner and for the builder's hashes. Never logged, never stored. */
export const opened = (env: ConfigurationKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, (password) => openPassword(env, password));

/**
 * What may be stored of a configuration in clear. Passwords that are the same as in `before`, as it was stored, keep
 * their sealed text, so that saving the same configuration twice writes the same.
 */
export async function sealed(
  env: ConfigurationKey,
  clear: Configuration,
  before?: Configuration,
): Promise<Configuration> {
  const kept = new Map<string, string>();
  if (before) {
    await withPasswords(before, async (password, owner) => {
      if (sealedText.test(password)) kept.set(keyOf(owner, await openPassword(env, password)), password);
      return password;
    });
  }
  return await withPasswords(
    clear,
    async (password, owner) => kept.get(keyOf(owner, password)) ?? (await sealPassword(env, password)),
  );
}

/** The configuration of a template as its catalogue has it, or of an older row: seals what is not sealed yet. */
export const sealedAnew = (env: ConfigurationKey, stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, async (password) => (sealedText.test(password) ? password : await sealPassword(env, password)));

/** As accounts see it that may read the appliance and do not own it. */
export const withoutPasswords = (stored: Configuration): Promise<Configuration> =>
  withPasswords(stored, () => Promise.resolve(""));

/**
 * What the clone of another account's appliance starts with: people have the passwords of the template that the appliance
 * descends from, or its root's. If the template is gone, and for databases, the passwords are new and unknown.
 */
export async function forStranger(
  env: ConfigurationKey,
  stored: Configuration,
  template: Configuration | undefined,
): Promise<Configuration> {
  const ofTemplate = new Map(template?.users.map(({ name, password }) => [name, password]));
  const known = await withPasswords(stored, async (_, { kind, name }) => {
    const password = kind === "user" ? (ofTemplate.get(name) ?? ofTemplate.get("root")) : undefined;
    return password ?? (await sealPassword(env, newPassword(16)));
  });
  return await sealedAnew(env, known);
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
  return { ...configuration, users: await Promise.all(users), databases: await Promise.all(databases) };
}

async function openPassword(env: ConfigurationKey, stored: string): Promise<string> {
  const [, cipher] = sealedText.exec(stored) ?? [];
  return cipher === undefined ? stored : await decrypt(env.API_KEY_ENCRYPTION_KEY, cipher);
}

const sealPassword = async (env: ConfigurationKey, clear: string): Promise<string> =>
  mark + (await encrypt(env.API_KEY_ENCRYPTION_KEY, clear));
