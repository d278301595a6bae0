import type { Context } from "hono";
import { Buffer } from "node:buffer";
import { checkKeyOrToken } from "#domain/accounts/account";
import { noteFailedSignIn } from "#domain/accounts/audit";
import type { Credentials } from "#domain/accounts/sign-in-throttle";
import { clientAddress, type AddressRules } from "#http/client-address";
import { factory, type ApiEnv } from "#api/factory";
import { answerError } from "#http/respond";

/**
 * HTTP Basic: account name, and API key or token (compatibility.md, "Credentials"). Python and Qt clients send
 * credentials only after the challenge.
 */
export const authenticate = factory.createMiddleware(async (c, next) => {
  const given = givenCredentials(c.req.raw, c.env);
  const signedIn = given && (await checkKeyOrToken({ env: c.env, db: c.var.db }, given));
  if (!signedIn) return challengeAgain(c, given);
  c.set("account", signedIn.account);
  c.set("access", signedIn.access);
  await next();
  return undefined;
});

/** The credentials of a request, and its address. Undefined if it has no credentials. */
export function givenCredentials(request: Request, env: AddressRules): Credentials | undefined {
  const given = basicCredentials(request.headers.get("authorization"));
  return given && { ...given, address: clientAddress(request, env) };
}

/**
 * Name and secret from an Authorization header. The scheme may be in upper or lower case, because Java writes BASIC.
 */
function basicCredentials(header: string | null): { username: string; key: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { username: text.slice(0, colon), key: text.slice(colon + 1) };
}

/** Answers 401. Records wrong credentials, so that the account can see that someone tried. */
export function challengeAgain<E extends ApiEnv>(c: Context<E>, given: Credentials | undefined): Response {
  if (given) c.executionCtx.waitUntil(noteFailedSignIn(c.var.db, given));
  return challenge(c);
}

/** The answer to a request with wrong credentials or without any. */
function challenge(c: Context): Response {
  c.header("WWW-Authenticate", 'Basic realm="Kiln API", charset="UTF-8"');
  const message = "Sign in with your account name and your API key.";
  return answerError(c, { code: "access_denied", message }, 401);
}
