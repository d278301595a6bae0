import type { Services } from "#domain/services";
import { onlyAppliance, type Access } from "#domain/accounts/access";
import { noteFailedSignIn } from "#domain/accounts/audit";
import { hashOneAtATime } from "#domain/accounts/hash-queue";
import { throttled, type ThrottleEnv, type Credentials } from "#domain/accounts/sign-in-throttle";
import { findByToken } from "#domain/accounts/tokens";
import { refuseLocked } from "#domain/accounts/lock";
import { withLinks } from "#domain/builds/download-link";
import { endStreams } from "#domain/events/events";
import { Refusal } from "#domain/refusal";
import {
  decrypt,
  encrypt,
  hashOfNone,
  hashPassword,
  keyedHash,
  newPassword,
  passwordMatches,
  sameSecret,
} from "#domain/secrets";
import { addAccount, findAccount, saveApiKey, saveOperator, savePasswordHash, type Account } from "#storage/accounts";
import { listAppliancesOfKey, type ApplianceWithBuilds } from "#storage/appliance-builds";
import type { Database } from "#storage/db";

/** The service's secrets that protect API keys. */
type KeySecrets = Pick<Env, "API_KEY_PEPPER" | "API_KEY_ENCRYPTION_KEY">;

type SignInEnv = KeySecrets & ThrottleEnv;

export interface AccountRequest {
  username: string;
  email: string;
  displayName?: string | undefined;
  /** Generated if omitted. */
  apiKey?: string | undefined;
  password?: string | undefined;
}

/** Creates an account. The result has its key and password in clear text. Later, only the key's page shows the key. */
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
    ...(await storedKey(secrets, apiKey)),
    passwordHash: await hashPassword(password),
    createdAt: new Date(),
  });
  if (!account) throw new Refusal("invalid_value", { message: `The name ${request.username} or its key is taken.` });
  return { account, apiKey, password };
}

/** The account that has signed in, and what the request may do. */
export interface SignedIn {
  account: Account;
  access: Access;
}

/** Signs in with an API key or a token. Reads the database each time, so that an old key stops working immediately. */
export const checkKeyOrToken = ({ env, db }: Services<SignInEnv>, given: Credentials): Promise<SignedIn | undefined> =>
  throttled(env, given, () => signedInBy({ env, db }, given));

async function signedInBy({ env, db }: Services<SignInEnv>, given: Credentials): Promise<SignedIn | undefined> {
  const account = await findByKey(db, env, given);
  const signedIn: SignedIn | undefined = account
    ? { account, access: { by: "key" } }
    : await findByToken(db, env, given);
  if (signedIn) refuseLocked(signedIn.account);
  return signedIn;
}

async function findByKey(db: Database, secrets: KeySecrets, { username, key }: Credentials) {
  const account = await findAccount(db, username);
  const hmac = keyedHash(secrets.API_KEY_PEPPER, key);
  return account && sameSecret(account.apiKeyHmac, hmac) ? account : undefined;
}

/**
 * The appliances of the account with this key or token. Undefined if no account has it. One query finds the account and
 * its list, because a second query would take a third of the time of the whole request. The key is found by its HMAC,
 * so the time reveals nothing about it.
 */
export const listByKeyOrToken = (
  { env, db }: Services<SignInEnv>,
  given: Credentials,
): Promise<ApplianceWithBuilds[] | undefined> =>
  throttled(env, given, async () => {
    const apiKeyHmac = keyedHash(env.API_KEY_PEPPER, given.key);
    const all = await listAppliancesOfKey(db, { username: given.username, apiKeyHmac });
    return all ?? (await listWithToken({ env, db }, given));
  });

/** Lists the appliances for a token. */
async function listWithToken({ env, db }: Services<SignInEnv>, given: Credentials) {
  const signedIn = await signedInBy({ env, db }, given);
  if (!signedIn) return undefined;
  const { account, access } = signedIn;
  const only = onlyAppliance(access);
  const all = await listAppliancesOfKey(db, account);
  return all
    ?.filter(({ appliance }) => only === null || appliance.id === only)
    .map(({ appliance, builds }) => ({ appliance, builds: withLinks(builds, account.id, signedIn) }));
}

/**
 * Signs in to the page of the API key, with the password or with the key itself. A hash is computed even if no account
 * has the name, so that the duration does not reveal which names exist.
 */
export const checkPasswordOrKey = (
  { env, db }: Services<SignInEnv>,
  given: Credentials,
  matches = passwordMatches,
): Promise<Account | undefined> =>
  throttled(env, given, async (refuse) => {
    const account = (await findByKey(db, env, given)) ?? (await findByPassword(db, given, { refuse, matches }));
    if (account) refuseLocked(account);
    return account;
  });

/** Changes the password; requires the old one. */
export async function changePassword(
  { env, db }: Services<SignInEnv>,
  given: Credentials,
  wanted: string,
): Promise<void> {
  await setPassword(db, await getByPassword({ env, db }, given), wanted, given.address);
}

/** The account with this name and password. For actions for which an API key is not enough. */
export async function getByPassword({ env, db }: Services<SignInEnv>, given: Credentials): Promise<Account> {
  const account = await throttled(env, given, (refuse) =>
    findByPassword(db, given, { refuse, matches: passwordMatches }),
  );
  if (account) return account;
  await noteFailedSignIn(db, given);
  throw new Refusal("access_denied", { message: "The password is wrong." });
}

export async function setPassword(db: Database, account: Account, password: string, address?: string): Promise<void> {
  await savePasswordHash(db, account.id, await hashOneAtATime(address, () => hashPassword(password)));
}

/** Whether the account may use the operator's pages. */
export const setOperator = (db: Database, { id }: Account, role: "operator" | "user"): Promise<void> =>
  saveOperator(db, id, role === "operator");

async function findByPassword(
  db: Database,
  given: Credentials,
  { refuse, matches }: { refuse: () => void; matches: typeof passwordMatches },
): Promise<Account | undefined> {
  const account = await findAccount(db, given.username);
  const fits = await hashOneAtATime(given.address, async () => {
    refuse();
    return await matches(given.key, account?.passwordHash ?? hashOfNone);
  });
  return fits ? account : undefined;
}

export const showApiKey = (secrets: KeySecrets, account: Account): Promise<string> =>
  decrypt(secrets.API_KEY_ENCRYPTION_KEY, account.apiKeyCipher);

/** Creates and returns a new key. The old one stops working immediately. */
export async function renewApiKey(
  { env, db }: Services<KeySecrets & Pick<Env, "EVENTS">>,
  account: Account,
): Promise<string> {
  const apiKey = newPassword(20);
  const { apiKeyHmac: hmac, apiKeyCipher: cipher } = await storedKey(env, apiKey);
  await saveApiKey(db, account.id, { hmac, cipher });
  await endStreams(env, account);
  return apiKey;
}

async function storedKey(secrets: KeySecrets, apiKey: string) {
  return {
    apiKeyHmac: keyedHash(secrets.API_KEY_PEPPER, apiKey),
    apiKeyCipher: await encrypt(secrets.API_KEY_ENCRYPTION_KEY, apiKey),
  };
}
