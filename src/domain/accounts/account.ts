import { endStreams } from "#domain/events/events";
import { Refusal } from "#domain/refusal";
import { decrypt, encrypt, hashPassword, keyedHash, newPassword, passwordMatches, sameSecret } from "#domain/secrets";
import { addAccount, findAccount, saveApiKey, type Account } from "#storage/accounts";
import { listAppliancesOfKey, type ApplianceWithBuilds } from "#storage/appliance-builds";
import type { Database } from "#storage/db";

/** The service's own secrets that guard API keys. */
export type KeySecrets = Pick<Env, "API_KEY_PEPPER" | "API_KEY_ENCRYPTION_KEY">;

export interface AccountRequest {
  username: string;
  email: string;
  displayName?: string | undefined;
  /** Made here when left out. */
  apiKey?: string | undefined;
  password?: string | undefined;
}

/** Makes an account; its key and password are in the answer, and never again in clear but on the key's page. */
export async function createAccount(
  db: Database,
  secrets: KeySecrets,
  request: AccountRequest,
): Promise<{ account: Account; apiKey: string; password: string }> {
  const apiKey = request.apiKey ?? newPassword(20);
  const password = request.password ?? newPassword(16);
  const account = await addAccount(db, {
    username: request.username,
    displayName: request.displayName ?? request.username,
    email: request.email,
    ...(await keptKey(secrets, apiKey)),
    passwordHash: await hashPassword(password),
    createdAt: new Date(),
  });
  if (!account) throw new Refusal("invalid_value", { message: `The name ${request.username} or its key is taken.` });
  return { account, apiKey, password };
}

/** The account that a name and its API key open, read from the database each time so that a renewed key dies at once. */
export async function checkApiKey(
  db: Database,
  secrets: KeySecrets,
  given: { username: string; key: string },
): Promise<Account | undefined> {
  const account = await findAccount(db, given.username);
  const hmac = await keyedHash(secrets.API_KEY_PEPPER, given.key);
  return account && sameSecret(account.apiKeyHmac, hmac) ? account : undefined;
}

/**
 * The appliances of that account; undefined: there is none. Who asks, and for what, is one question to the database, since a second one
 * would take a third of the whole request. The key is looked up by its HMAC, so how long that takes tells nothing about it.
 */
export async function listByApiKey(
  db: Database,
  secrets: KeySecrets,
  { username, key }: { username: string; key: string },
): Promise<ApplianceWithBuilds[] | undefined> {
  return await listAppliancesOfKey(db, { username, apiKeyHmac: await keyedHash(secrets.API_KEY_PEPPER, key) });
}

/** The key's page opens with the password as well as with the key itself. */
export async function checkPasswordOrKey(
  db: Database,
  secrets: KeySecrets,
  given: { username: string; key: string },
): Promise<Account | undefined> {
  const byKey = await checkApiKey(db, secrets, given);
  if (byKey) return byKey;
  const account = await findAccount(db, given.username);
  return account && (await passwordMatches(given.key, account.passwordHash)) ? account : undefined;
}

export const showApiKey = (secrets: KeySecrets, account: Account): Promise<string> =>
  decrypt(secrets.API_KEY_ENCRYPTION_KEY, account.apiKeyCipher);

/** Makes a new key and answers it; the old one is refused from now on. */
export async function renewApiKey(
  db: Database,
  env: KeySecrets & Pick<Env, "EVENTS">,
  account: Account,
): Promise<string> {
  const apiKey = newPassword(20);
  const { apiKeyHmac: hmac, apiKeyCipher: cipher } = await keptKey(env, apiKey);
  await saveApiKey(db, account.id, { hmac, cipher });
  await endStreams(env, account);
  return apiKey;
}

async function keptKey(secrets: KeySecrets, apiKey: string) {
  return {
    apiKeyHmac: await keyedHash(secrets.API_KEY_PEPPER, apiKey),
    apiKeyCipher: await encrypt(secrets.API_KEY_ENCRYPTION_KEY, apiKey),
  };
}
