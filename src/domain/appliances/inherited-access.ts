import type { LimitsEnv } from "#domain/accounts/limits";
import { loginsOf } from "#domain/configuration/known-passwords";
import { changeConfiguration, shownConfiguration } from "#domain/configuration/of-appliance";
import { overlayPath } from "#domain/contents/overlay-file-metadata";
import type { Services } from "#domain/services";
import { changedMeanwhile, Refusal } from "#domain/refusal";
import { newPassword, type EncryptionKey } from "#domain/secrets";
import type { Configuration } from "#lib/configuration/stored";
import type { Account } from "#storage/accounts";
import { listSshKeys } from "#storage/account-ssh-keys";
import type { Appliance } from "#storage/appliances";
import { descendsFromOthers } from "#storage/configurations";
import { listOverlayFiles, type OverlayFile } from "#storage/overlay-files";

/** The parts of a clone of another account's appliance that give access to others. */
export interface InheritedAccess {
  /** Users with the template's password, which is public. */
  users: readonly string[];
  /** Files with SSH keys. They allow the keys' owners to log in, or they identify the machine. */
  keyFiles: readonly OverlayFile[];
}

const none: InheritedAccess = { users: [], keyFiles: [] };

/** Empty if the appliance has always belonged to the account, or is a clone of a template. */
export async function inheritedAccess(
  services: Services<EncryptionKey>,
  appliance: Appliance,
): Promise<InheritedAccess> {
  if (!(await descendsFromOthers(services.db, appliance))) return none;
  const [logins, files] = await Promise.all([
    loginsOf(services, appliance),
    listOverlayFiles(services.db, appliance.id),
  ]);
  return {
    users: logins.filter(({ password }) => password !== "").map(({ user }) => user),
    keyFiles: files.filter((file) => isSshKeyFile(overlayPath(file))),
  };
}

export const hasAccess = ({ users, keyFiles }: InheritedAccess): boolean => users.length + keyFiles.length > 0;

const isSshKeyFile = (path: string): boolean =>
  /\/\.ssh\/(?:authorized_keys2?|id_[^/]+|identity)$|\/ssh_host_[^/]*key(?:\.pub)?$|\/dropbear_[^/]*host_key$/.test(
    path,
  );

export interface ReplacedAccess {
  /** The new passwords. Afterwards they are shown only in the configuration. */
  passwords: readonly { user: string; password: string }[];
  removedFiles: readonly string[];
  /** The users that now have the account's SSH keys. */
  keyUsers: readonly string[];
}

/**
 * Gives each of these users a new password, removes the files, and adds the account's own SSH keys if requested. Either
 * everything is changed or nothing.
 */
export async function replaceAccess(
  services: Services<EncryptionKey & LimitsEnv>,
  account: Pick<Account, "id">,
  { appliance, withKeys }: { appliance: Appliance; withKeys: boolean },
): Promise<ReplacedAccess> {
  const [access, keys] = await Promise.all([
    inheritedAccess(services, appliance),
    withKeys ? listSshKeys(services.db, account.id) : [],
  ]);
  if (!hasAccess(access))
    throw new Refusal("invalid_value", { message: "No passwords or keys of other accounts are left." });
  const before = (await shownConfiguration(services.env, account.id, appliance)).configuration.users;
  const passwords = access.users.map((user) => ({ user, password: newPassword(16) }));
  const files = access.keyFiles.map(overlayPath);
  const keyUsers = keys.length === 0 ? [] : before.filter((user) => isAffected(user, access.users, files));
  const users = before.map(({ name, sshKeys }) => {
    const password = passwords.find(({ user }) => user === name)?.password;
    return {
      name,
      ...(password !== undefined && { password }),
      ...(keyUsers.some((user) => user.name === name) && { sshKeys: [...new Set([...sshKeys, ...keys])] }),
    };
  });
  await changeConfiguration(
    services,
    { accountId: account.id, appliance },
    {
      change: { users },
      removedFiles: access.keyFiles.map(({ id }) => id),
      precondition: ({ configuration }) => {
        if (JSON.stringify(configuration.users) !== JSON.stringify(before)) throw changedMeanwhile();
      },
    },
  );
  return { passwords, removedFiles: files, keyUsers: keyUsers.map(({ name }) => name) };
}

type User = Configuration["users"][number];

/** Whether the user's password is replaced, or a file with keys is removed from the user's home directory. */
const isAffected = ({ name, homedir }: User, users: readonly string[], files: readonly string[]): boolean =>
  users.includes(name) || files.some((file) => file.startsWith(`${homedir}/.ssh/`));
