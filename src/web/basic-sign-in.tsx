import { givenCredentials } from "#api/authenticate";
import { checkPasswordOrKey } from "#domain/accounts/account";
import { noteFailedSignIn } from "#domain/accounts/audit";
import { factory } from "./factory.ts";
import { wantsPage } from "./error-page.tsx";
import { page } from "./page.tsx";
import { Column } from "./parts/column.tsx";
import { sessionSecret, withSession } from "./session.ts";

/**
 * Sign-in for pages that programs also open. Browsers sign in as on any other page. Programs use Basic authentication,
 * with the password or the current key. The realm differs from the API's, so that browsers store both separately.
 */
export const signIn = factory.createMiddleware(async (c, next) => {
  const given = givenCredentials(c.req.raw, c.env);
  if (!given && (wantsPage(c) || sessionSecret(c) !== undefined)) return await withSession(c, next);
  const account = given && (await checkPasswordOrKey({ env: c.env, db: c.var.db }, given));
  if (!account) {
    if (given) c.executionCtx.waitUntil(noteFailedSignIn(c.var.db, given));
    c.header("WWW-Authenticate", 'Basic realm="Kiln account", charset="UTF-8"');
    const message = "Sign in with your account name and your password, or with your API key instead of it.";
    return await page(c, <SignInFirst message={message} />, { title: "Sign in", status: 401 });
  }
  c.set("account", account);
  return await next();
});

const SignInFirst = ({ message }: { message: string }) => (
  <Column>
    <h1>Sign in</h1>
    <p>{message}</p>
  </Column>
);
