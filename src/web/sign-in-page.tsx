import { readParams } from "#api/params";
import { checkPasswordOrKey } from "#domain/accounts/account";
import { audited, noteFailedSignIn } from "#domain/accounts/audit";
import { startSession } from "#domain/accounts/sessions";
import { clientAddress } from "#http/client-address";
import { factory } from "./factory.ts";
import { Column } from "./layout.tsx";
import { page } from "./page.tsx";
import { canKeepSession, giveSession, placeToGoOn, sessionSecret, signInPath } from "./session.ts";

const title = "Sign in";

/** The door for browsers: a form that takes the password or the API key, and gives a cookie. */
export const signInPage = factory
  .createApp()
  .get(signInPath, (c) => {
    const { baseUrl } = c.var;
    if (!canKeepSession(baseUrl)) return page(c, <NeedsTls baseUrl={baseUrl} />, { title });
    return page(c, <SignIn to={placeToGoOn(baseUrl, c.req.query("to"))} />, { title });
  })
  .post(signInPath, async (c) => {
    const { db, baseUrl } = c.var;
    if (!canKeepSession(baseUrl)) return await page(c, <NeedsTls baseUrl={baseUrl} />, { title, status: 403 });
    const { name: username = "", password: key = "", to } = await readParams(c);
    const place = placeToGoOn(baseUrl, to);
    const address = clientAddress(c.req.raw, c.env);
    const account = await checkPasswordOrKey(db, c.env, { username, key, address });
    if (!account) {
      c.executionCtx.waitUntil(noteFailedSignIn(db, { username, key, address }));
      return await page(c, <SignIn to={place} username={username} isWrong />, { title, status: 403 });
    }

    const acting = audited(db, { event: "session.started", actor: "page", accountId: account.id, address });
    const browser = { userAgent: c.req.header("user-agent"), address };
    giveSession(c, await startSession(c.env, acting, account, { ...browser, before: sessionSecret(c) }));
    return c.redirect(place, 303);
  });

const SignIn = ({ to, username = "", isWrong }: { to: string; username?: string; isWrong?: boolean }) => (
  <Column>
    <h1>{title}</h1>
    {isWrong && (
      <p class="notice" role="alert">
        That name and password do not match.
      </p>
    )}
    <form class="fields" method="post" action={signInPath}>
      <input type="hidden" name="to" value={to} />
      <label for="name">Account name</label>
      <input
        class="input"
        id="name"
        name="name"
        value={username}
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        required
      />
      <label for="password">Password, or API key</label>
      <input class="input" id="password" name="password" type="password" autocomplete="current-password" required />
      <button class="button primary" type="submit">
        {title}
      </button>
    </form>
    <p class="quiet">Accounts are created by the people who run this service.</p>
  </Column>
);

const NeedsTls = ({ baseUrl }: { baseUrl: string }) => (
  <Column>
    <h1>{title}</h1>
    <p class="notice" role="alert">
      You cannot sign in at <code>{baseUrl}</code>, because it is not encrypted. Anyone on the way could read your
      password, and browsers do not keep the sign-in.
    </p>
    <p>
      Open this service by an address that begins with <code>https://</code>. If there is none, the people who run the
      service must set up TLS, or a proxy with TLS and <code>--base-url https://…</code>. On the machine itself,{" "}
      <code>http://localhost</code> works too.
    </p>
  </Column>
);
