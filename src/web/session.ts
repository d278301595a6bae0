import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { readParams } from "#api/params";
import { findSession, formTokenOf, longestSessionMs } from "#domain/accounts/sessions";
import { Refusal } from "#domain/refusal";
import { sameSecret } from "#domain/secrets";
import { factory, type WebEnv } from "./factory.ts";

/** With the prefix, browsers take it from this host alone, for all of its paths, and only where nobody can read it on the way. */
const name = "kiln-session";
const rules = { prefix: "host", path: "/", secure: true, httpOnly: true, sameSite: "Lax" } as const;

export const signInPath = "/sign_in";

/** The secret of the session that a request brings along; it may be of none. */
export const sessionSecret = (c: Context): string | undefined => getCookie(c, name, "host") || undefined;

export const giveSession = (c: Context, secret: string): void =>
  setCookie(c, name, secret, { ...rules, maxAge: longestSessionMs / 1000 });

export const takeSession = (c: Context): void => void deleteCookie(c, name, rules);

/** A page for those who are signed in. Others sign in first, and then come back to it. */
export const withSession = factory.createMiddleware(async (c, next) => {
  const secret = sessionSecret(c);
  const found = secret === undefined ? undefined : await findSession(c.env, c.var.db, secret);
  if (!found) {
    const { pathname, search } = new URL(c.req.url);
    const to = ["GET", "HEAD"].includes(c.req.method) ? `?${new URLSearchParams({ to: pathname + search })}` : "";
    return c.redirect(signInPath + to, 303);
  }
  c.set("account", found.account);
  c.set("session", found.session);
  c.set("formToken", formTokenOf(c.env, found.session));
  return await next();
});

/** Refuses a form that no page of this session made. */
export async function checkForm(c: Context<WebEnv>): Promise<void> {
  const { form_token: given = "" } = await readParams(c);
  if (sameSecret(given, c.var.formToken)) return;
  throw new Refusal("access_denied", { message: "This form has expired. Please open the page again." });
}

/** Browsers take the cookie over plain HTTP from their own machine only. */
export function canKeepSession(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || hostname === "localhost" || hostname === "127.0.0.1";
}

/** Where a person goes on after signing in: an address of this service, whatever the request says. */
export function placeToGoOn(baseUrl: string, to = "/"): string {
  const place = URL.parse(to, baseUrl);
  return place && place.origin === new URL(baseUrl).origin ? place.href : new URL("/", baseUrl).href;
}
