import type { Services } from "#domain/services";
import type { Access } from "#domain/accounts/access";
import { makeOnce } from "#domain/accounts/idempotency";
import { limitReached, limitsOf, type LimitsEnv } from "#domain/accounts/limits";
import type { Credentials } from "#domain/accounts/sign-in-throttle";
import { endStreams } from "#domain/events/events";
import { noteInPassing } from "#domain/full-disk";
import { Refusal } from "#domain/refusal";
import { keyedHash, newToken, sameSecret } from "#domain/secrets";
import type { Account } from "#storage/accounts";
import { findAppliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import {
  addToken,
  deleteToken,
  findTokenByHmac,
  findTokenOwner,
  hasToken,
  noteTokenUse,
  saveTokenHmac,
  type NewToken,
  type Token,
} from "#storage/tokens";

interface TokenRequest extends Pick<Token, "name" | "scope" | "expiresAt"> {
  applianceId: number | null;
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
}

type TokenEnv = LimitsEnv & Pick<Env, "API_KEY_PEPPER">;

/** The prefix that lets people and secret scanners recognise a token. */
const prefix = "kiln_";
const noteUseEveryMs = 60_000;

/**
 * Creates a token. Its secret is in the result and is not stored. If the request was interrupted and is repeated, its
 * token gets a new secret, because no one has seen the first one.
 */
export async function createToken(
  { env, db }: Services<TokenEnv>,
  accountId: number,
  { requestId, ...request }: TokenRequest,
): Promise<{ token: Token; secret: string }> {
  const { expiresAt, applianceId } = request;
  if (expiresAt && expiresAt.getTime() <= Date.now()) {
    throw new Refusal("invalid_value", { message: "expires_at must be in the future." });
  }
  if (applianceId !== null && !(await findAppliance(db, accountId, applianceId))) {
    throw new Refusal("invalid_appliance_id", { message: "You have no appliance with this id." });
  }
  const secret = prefix + newToken();
  const tokenHmac = keyedHash(env.API_KEY_PEPPER, secret);
  const row = { ...request, uid: requestId ?? crypto.randomUUID(), accountId, tokenHmac, createdAt: new Date() };
  const token = await makeOnce(requestId, {
    find: (uid) => saveTokenHmac(db, uid, tokenHmac),
    make: () => addWithinLimit({ env, db }, row),
  });
  return { token, secret };
}

async function addWithinLimit({ env, db }: Services<LimitsEnv>, row: NewToken): Promise<Token> {
  const token = await addToken(db, row, limitsOf(env).tokens);
  if (token) return token;
  throw limitReached(env, "tokens");
}

/** The account that has this name and this token, and what the token may do. Expired tokens are not found. */
export async function findByToken(
  db: Database,
  secrets: Pick<Env, "API_KEY_PEPPER">,
  { username, key }: Credentials,
): Promise<{ account: Account; access: Access } | undefined> {
  if (!key.startsWith(prefix)) return undefined;
  const hmac = keyedHash(secrets.API_KEY_PEPPER, key);
  const found = await findTokenByHmac(db, hmac);
  if (!found || !sameSecret(found.token.tokenHmac, hmac) || found.account.username !== username) return undefined;
  const { account, token } = found;
  const now = Date.now();
  if (token.expiresAt && token.expiresAt.getTime() <= now) return undefined;
  await noteInPassing("the use of a token", () => noteUse(db, token, now));
  const { id, scope, applianceId, expiresAt } = token;
  return { account, access: { by: "token", id, scope, applianceId, expiresAt } };
}

/** Whether a long answer may continue. The token may have expired or been revoked since the answer began. */
export async function stillOpens(db: Database, access: Access): Promise<boolean> {
  if (access.by === "key") return true;
  if (access.expiresAt && access.expiresAt.getTime() <= Date.now()) return false;
  return await hasToken(db, access.id);
}

async function noteUse(db: Database, { id, lastUsedAt }: Token, now: number): Promise<void> {
  const unlessSince = new Date(now - noteUseEveryMs);
  if (lastUsedAt && lastUsedAt >= unlessSince) return;
  await noteTokenUse(db, id, { at: new Date(now), unlessSince });
}

/**
 * Revokes a token, which stops working with the next request. All streams of the account end, because one of them may
 * use the token.
 */
export async function revokeToken(
  { env, db }: Services<Pick<Env, "EVENTS">>,
  account: Account,
  id: number,
): Promise<void> {
  if (!(await deleteToken(db, account.id, id))) throw noSuchToken();
  await endStreams(env, account);
}

/** Revokes a token of any account. For the operator, who does not know the accounts' passwords. */
export async function revokeTokenOfAnyone({ env, db }: Services<Pick<Env, "EVENTS">>, id: number): Promise<void> {
  const owner = await findTokenOwner(db, id);
  if (!owner) throw noSuchToken();
  await revokeToken({ env, db }, owner, id);
}

/** The refusal for an unknown id, and for text that is not a valid id. */
const noSuchToken = () => new Refusal("unknown_error", { reason: "unknown", message: "There is no such token." });
