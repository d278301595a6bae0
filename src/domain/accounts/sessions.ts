import type { Services } from "#domain/services";
import { networkOf } from "#domain/accounts/sign-in-throttle";
import { noteInPassing } from "#domain/full-disk";
import { Refusal } from "#domain/refusal";
import { modeIn, type ReadOnlyMode } from "#domain/service-settings";
import { keyedHash, newToken, sameSecret } from "#domain/secrets";
import type { Account } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import {
  addSession,
  deleteExpiredSessions,
  deleteSession,
  deleteSessionByHmac,
  findSessionByHmac,
  noteSessionUse,
  type Session,
} from "#storage/sessions";

type SessionEnv = Pick<Env, "API_KEY_PEPPER">;

/** The browser that signs in, and its address. */
export interface Browser {
  userAgent: string | undefined;
  address: string | undefined;
}

const dayMs = 24 * 60 * 60_000;
/** A session ends after this long without a request. */
const idleMs = 7 * dayMs;
/** A session ends after this time, however often it is used. */
export const maxSessionMs = 30 * dayMs;
const maxSessions = 20;
const noteUseEveryMs = 60_000;
const deletedAtOnce = 1000;

/**
 * Signs a browser in, and returns the secret of its cookie, which is always new. The browser's previous session ends,
 * because an attacker may have set it.
 */
export async function startSession(
  { env, db }: Services<SessionEnv>,
  account: Account,
  { userAgent, address, before }: Browser & { before: string | undefined },
): Promise<string> {
  const secret = newToken();
  const createdAt = new Date();
  const row = {
    secretHmac: hmacOf(env, secret),
    createdAt,
    lastUsedAt: createdAt,
    expiresAt: expiryOf(createdAt, createdAt.getTime()),
    browser: browserIn(userAgent),
    network: networkIn(address),
  };
  if (!(await addSession(db, account, row, maxSessions))) {
    throw new Refusal("access_denied", { message: "The account has just been changed. Sign in again." });
  }
  if (before !== undefined) await endSession({ env, db }, before);
  return secret;
}

interface SignedInBrowser {
  session: Session;
  account: Account;
  /** The requested appliance, if it is the account's own. */
  appliance: Appliance | null;
  readOnly: ReadOnlyMode;
}

/** The session of a cookie, its account, and an appliance that the page is about. Expired sessions are not found. */
export async function findSession(
  { env, db }: Services<SessionEnv>,
  secret: string,
  applianceId: number | null = null,
): Promise<SignedInBrowser | undefined> {
  const hmac = hmacOf(env, secret);
  const found = await findSessionByHmac(db, hmac, applianceId);
  const now = Date.now();
  if (!found || !sameSecret(found.session.secretHmac, hmac) || found.session.expiresAt.getTime() <= now)
    return undefined;
  await noteInPassing("the use of a session", () => noteUse(db, found.session, now));
  const { settings, ...signedIn } = found;
  return { ...signedIn, readOnly: modeIn(settings) };
}

async function noteUse(db: Database, { id, createdAt, lastUsedAt }: Session, now: number): Promise<void> {
  const unlessSince = new Date(now - noteUseEveryMs);
  if (lastUsedAt >= unlessSince) return;
  await noteSessionUse(db, id, { at: new Date(now), expiresAt: expiryOf(createdAt, now), unlessSince });
}

const expiryOf = (createdAt: Date, now: number) => new Date(Math.min(createdAt.getTime() + maxSessionMs, now + idleMs));

/** Signs out. Repeating it is safe. */
export const endSession = ({ env, db }: Services<SessionEnv>, secret: string): Promise<void> =>
  deleteSessionByHmac(db, hmacOf(env, secret));

/** Signs another browser out. If the id is NaN, it matches no session. */
export async function revokeSession(db: Database, accountId: number, id: number): Promise<void> {
  if (Number.isSafeInteger(id) && (await deleteSession(db, accountId, id))) return;
  throw new Refusal("unknown_error", { reason: "unknown", message: "There is no such session." });
}

/** The token that a form on a page must send. Another site cannot know it, and it expires with the session. */
export function formTokenOf(env: SessionEnv, { secretHmac }: Session): string {
  const token = formTokens.get(secretHmac) ?? keyedHash(env.API_KEY_PEPPER, `form of the session ${secretHmac}`);
  formTokens.set(secretHmac, token);
  const [oldest] = formTokens.keys();
  if (oldest !== undefined && formTokens.size > maxFormTokens) formTokens.delete(oldest);
  return token;
}

/** Cached, because every page needs the token of its session. */
const formTokens = new Map<string, string>();
const maxFormTokens = 1000;

/** A chore of the sweep: deletes expired sessions. */
export async function forgetSessions({ db }: Pick<Services, "db">, now: number): Promise<void> {
  while ((await deleteExpiredSessions(db, new Date(now), deletedAtOnce)) === deletedAtOnce);
}

const hmacOf = (env: SessionEnv, secret: string): string => keyedHash(env.API_KEY_PEPPER, `session ${secret}`);

/** The names of browsers in user agents. A browser whose user agent also contains the names of others comes first. */
const browsers = {
  Edge: /Edg/,
  Opera: /OPR\//,
  Firefox: /Firefox|FxiOS/,
  Chrome: /Chrom(e|ium)|CriOS/,
  Safari: /Safari/,
};
const systems = { Android: /Android/, iOS: /iPhone|iPad/, Windows: /Windows/, macOS: /Mac OS X/, Linux: /Linux|X11/ };

/** Enough for users to recognise their own browsers. Exact versions are not stored. */
function browserIn(userAgent = ""): string {
  const nameIn = (all: Readonly<Record<string, RegExp>>) => Object.keys(all).find((name) => all[name]?.test(userAgent));
  const [browser, system] = [nameIn(browsers), nameIn(systems)];
  return `${browser ?? "a browser"}${system === undefined ? "" : ` on ${system}`}`;
}

/** The network of an address: `192.0.2.*` or `2001:db8:7:1:*`. */
function networkIn(address: string | undefined): string | null {
  if (address === undefined) return null;
  return address.includes(":") ? `${networkOf(address)}:*` : address.replace(/\d+$/, "*");
}
