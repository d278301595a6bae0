import { databaseVerifiers, saltingOf, shadowHash } from "#domain/accounts/password-hashes";
import type { EncryptionKey } from "#domain/secrets";
import { rest } from "#lib/loop/pace";
import { noPassword } from "#lib/kiwi/access";
import type { Configuration } from "#lib/configuration/stored";

/**
 * Caches the last hashes, by everything that determines them, because all builds of an appliance have the same hashes.
 */
const lastMade = new Map<string, string>();
const maxRemembered = 2000;

/** The users of an image and of its databases, with hashes instead of passwords. A hash takes up to 20 ms. */
export async function withoutPasswords(
  env: EncryptionKey,
  applianceId: number,
  { users, databases }: Pick<Configuration, "users" | "databases">,
) {
  const salt = saltingOf(env, applianceId);
  const hashed = async (whose: string, password: string, hash: typeof shadowHash): Promise<string> => {
    const salted = salt(whose, password);
    const key = `${whose} ${salted.toString("base64")}`;
    const made = lastMade.get(key) ?? (await rest(), hash(password, salted));
    remember(key, made);
    return made;
  };
  return {
    users: await eachInTurn(users, async ({ password, ...user }) => ({
      ...user,
      passwordHash: password === "" ? noPassword : await hashed(user.name, password, shadowHash),
    })),
    databases: await eachInTurn(databases, async ({ type, users: ofDatabase }) => ({
      type,
      users: await eachInTurn(ofDatabase, async ({ password, ...user }) => ({
        ...user,
        verifier: await hashed(`${type} ${user.username}`, password, databaseVerifiers[type]),
      })),
    })),
  };
}

function remember(key: string, hash: string): void {
  lastMade.delete(key);
  lastMade.set(key, hash);
  for (const oldest of lastMade.keys()) {
    if (lastMade.size <= maxRemembered) break;
    lastMade.delete(oldest);
  }
}

async function eachInTurn<T, U>(all: readonly T[], make: (one: T) => Promise<U>): Promise<U[]> {
  const made: U[] = [];
  for (const one of all) made.push(await make(one));
  return made;
}
