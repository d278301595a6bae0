import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { readParams } from "#http/params";
import { audited } from "#domain/accounts/audit";
import { findSession, formTokenOf, maxSessionMs, startSession } from "#domain/accounts/sessions";
import { Refusal } from "#domain/refusal";
import { sameSecret, unmasked } from "#domain/secrets";
import { clientAddress } from "#http/client-address";
import type { Account } from "#storage/accounts";
import { factory, type Person, type WebEnv } from "./factory.ts";

/**
 * The name of the cookie. Its prefix makes browsers accept it only from this host, for all of its paths, and only over
 * TLS.
 */
const name = "kiln-session";
const rules = { prefix: "host", path: "/", secure: true, httpOnly: true, sameSite: "Lax" } as const;

export const signInPath = "/sign_in";

/** The session secret in a request. It may be invalid. */
export const sessionSecret = (c: Context): string | undefined => getCookie(c, name, "host") || undefined;

const giveSession = (c: Context, secret: string): void =>
  setCookie(c, name, secret, { ...rules, maxAge: maxSessionMs / 1000 });

export const takeSession = (c: Context): void => void deleteCookie(c, name, rules);

/** The person who is signed in with this browser, if any. With an appliance id, also reads that appliance. */
export async function personOf(c: Context<WebEnv>, applianceId?: number): Promise<Person | undefined> {
  if (c.var.person === undefined) c.set("person", (await findPerson(c, applianceId)) ?? null);
  return c.var.person ?? undefined;
}

async function findPerson(c: Context<WebEnv>, applianceId?: number): Promise<Person | undefined> {
  const secret = sessionSecret(c);
  const found = secret === undefined ? undefined : await findSession({ env: c.env, db: c.var.db }, secret, applianceId);
  if (!found) return undefined;
  const { account, session, appliance, readOnly } = found;
  c.set("readOnly", Promise.resolve(readOnly));
  return { account, session, appliance, formToken: formTokenOf(c.env, session) };
}

/** Whether the session of a request is still open, for a stream that continues after the answer has begun. */
export const stillSignedIn = async (c: Context<WebEnv>): Promise<boolean> => (await findPerson(c)) !== undefined;

/** Guards a page that needs a session. A visitor without one signs in first, and then comes back to the page. */
export const withSession = factory.createMiddleware(async (c, next) => {
  const person = await personOf(c);
  if (!person) return c.redirect(signInFor(c), 303);
  c.set("account", person.account);
  c.set("session", person.session);
  c.set("formToken", person.formToken);
  return await next();
});

/** The address of the sign-in page, which leads back to this page, or to the page of the submitted form. */
function signInFor(c: Context<WebEnv>): string {
  const isReading = ["GET", "HEAD"].includes(c.req.method);
  const url = URL.parse(isReading ? c.req.url : (c.req.header("referer") ?? ""));
  const isOurs = isReading || url?.origin === new URL(c.var.baseUrl).origin;
  return url && isOurs ? signInTo(url.pathname + url.search) : signInPath;
}

export const signInTo = (url: string): string => `${signInPath}?${new URLSearchParams({ to: url })}`;

/** Refuses a form that does not come from a page of this session. */
export async function checkForm(c: Context<WebEnv>): Promise<void> {
  checkSentForm(c, await readParams(c));
}

/** Checks the form token of fields that have already been read. */
export function checkSentForm(c: Context<WebEnv>, { form_token: given = "" }: Record<string, string>): void {
  if (sameSecret(unmasked(given), c.var.formToken)) return;
  throw new Refusal("access_denied", { message: "This form has expired. Please open the page again." });
}

/** Over plain HTTP, browsers accept the cookie only from their own machine. */
export function canKeepSession(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || hostname === "localhost" || hostname === "127.0.0.1";
}

/**
 * The address at which a person continues after signing in. It is always one of this service, whatever was requested.
 */
export function urlToContinue(baseUrl: string, to = "/"): string {
  const url = URL.parse(to, baseUrl);
  return url && url.origin === new URL(baseUrl).origin ? url.href : new URL("/", baseUrl).href;
}

/** Signs this browser in with a new session. Its previous session ends. */
export async function signInBrowser(c: Context<WebEnv>, account: Account): Promise<void> {
  const address = clientAddress(c.req.raw, c.env);
  const acting = audited(c.var.db, { event: "session.started", actor: "page", accountId: account.id, address });
  const browser = { userAgent: c.req.header("user-agent"), address, before: sessionSecret(c) };
  giveSession(c, await startSession({ env: c.env, db: acting }, account, browser));
}
