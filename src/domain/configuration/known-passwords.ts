import type { Issue } from "#domain/appliances/issue";
import { isShadowHashOf } from "#domain/accounts/password-hashes";
import { usersIn, type KnownPasswords } from "#domain/appliances/exposed-secrets";
import { decrypted } from "#domain/configuration/secrets";
import type { Services } from "#domain/services";
import type { EncryptionKey } from "#domain/secrets";
import type { FrozenInput } from "#lib/contract/index";
import { rest } from "#lib/loop/pace";
import { configurationOf, type Configuration } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";
import { findTemplateConfiguration } from "#storage/configurations";

/** The passwords of the template that an appliance descends from. */
export async function knownPasswords(
  { env, db }: Services<EncryptionKey>,
  { id }: Pick<Appliance, "id">,
): Promise<KnownPasswords> {
  return await passwordsIn(env, await findTemplateConfiguration(db, id));
}

/** Like `knownPasswords`, with the configuration of the template already read. Undefined if there is no template. */
export async function passwordsIn(env: EncryptionKey, template: Configuration | undefined): Promise<KnownPasswords> {
  const users = template ? (await decrypted(env, template)).users : [];
  return new Map(users.map(({ name, password }) => [name, password]));
}

/**
 * A user's password in the template. In a clone, users that are not in the template were given the password of its
 * root.
 */
const ofTemplate = (known: KnownPasswords, name: string): string | undefined => known.get(name) ?? known.get("root");

/**
 * Checks whether a hash is that of a user's known password. Results are cached, because a hash takes a while and most
 * images have the same hashes.
 */
export function hashChecker(known: KnownPasswords): (user: string, hash: string) => boolean {
  const checked = new Map<string, boolean>();
  return (user, hash) => {
    const key = `${user} ${hash}`;
    const password = known.get(user);
    const isKnown = checked.get(key) ?? (password !== undefined && isShadowHashOf(password, hash));
    checked.set(key, isKnown);
    return isKnown;
  };
}

/** A user who can log in to the image. `password` is empty unless everyone knows it. */
export interface Login {
  user: string;
  password: string;
}

export const loginsOf = async ({ env, db }: Services<EncryptionKey>, appliance: Appliance): Promise<Login[]> =>
  await loginsBy(env, appliance, await findTemplateConfiguration(db, appliance.id));

/** Like `loginsOf`, with the configuration of the template already read. Undefined if there is no template. */
export async function loginsBy(
  env: EncryptionKey,
  appliance: Appliance,
  template: Configuration | undefined,
): Promise<Login[]> {
  const [{ users }, known] = await Promise.all([
    decrypted(env, configurationOf(appliance)),
    passwordsIn(env, template),
  ]);
  return users.map(({ name, password }) => ({
    user: name,
    password: ofTemplate(known, name) === password ? password : "",
  }));
}

/** The users of a built image, who may differ from the appliance's current users. */
export async function loginsIn(
  services: Services<EncryptionKey>,
  appliance: Pick<Appliance, "id">,
  input: FrozenInput,
): Promise<Login[]> {
  const known = await knownPasswords(services, appliance);
  const logins: Login[] = [];
  for (const { name, hash } of usersIn(input)) {
    await rest(); // each hash takes some milliseconds
    const password = ofTemplate(known, name) ?? "";
    logins.push({ user: name, password: password !== "" && isShadowHashOf(password, hash) ? password : "" });
  }
  return logins;
}

/**
 * Warns about a root password that everyone knows: anyone who can reach such a machine can become root on it. This is
 * only a warning, because the template may intend it. `template` is the configuration of the template that the
 * appliance descends from.
 */
export async function openRootIssue(
  env: EncryptionKey,
  appliance: Appliance,
  template: Configuration | undefined,
): Promise<Issue | undefined> {
  const root = (await loginsBy(env, appliance, template)).find(({ user }) => user === "root");
  if (!root?.password) return undefined;
  const text = `root has the password of the template, "${root.password}", which everyone knows. Set another one in the configuration, under Users.`;
  return { type: "warning", text, page: "configuration/users" };
}
