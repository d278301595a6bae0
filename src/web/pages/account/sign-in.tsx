import { readParams } from "#http/params";
import { checkPasswordOrKey } from "#domain/accounts/account";
import { noteFailedSignIn } from "#domain/accounts/audit";
import { clientAddress } from "#http/client-address";
import { hasAppliances } from "#storage/appliance-overview";
import { factory } from "../../factory.ts";
import { Content } from "../../parts/column.tsx";
import { Field } from "../../parts/field.tsx";
import { Form, Hidden } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Button } from "../../parts/button.tsx";
import { page } from "../../page.tsx";
import { canKeepSession, urlToContinue, signInBrowser, signInPath } from "../../session.ts";

const title = "Sign in";

/** Signs browsers in: a form that takes the password or the API key, and sets a cookie. */
export const signInPage = factory
  .createApp()
  .get(signInPath, (c) => {
    const { baseUrl } = c.var;
    if (!canKeepSession(baseUrl)) return page(c, <NeedsTls baseUrl={baseUrl} />, { title });
    return page(c, <SignIn to={urlToContinue(baseUrl, c.req.query("to"))} />, { title });
  })
  .post(signInPath, async (c) => {
    const { db, baseUrl } = c.var;
    if (!canKeepSession(baseUrl)) return await page(c, <NeedsTls baseUrl={baseUrl} />, { title, status: 403 });
    const { name: username = "", password: key = "", to } = await readParams(c);
    const url = urlToContinue(baseUrl, to);
    const address = clientAddress(c.req.raw, c.env);
    const account = await checkPasswordOrKey({ env: c.env, db }, { username, key, address });
    if (!account) {
      c.executionCtx.waitUntil(noteFailedSignIn(db, { username, key, address }));
      return await page(c, <SignIn to={url} username={username} isWrong />, { title, status: 403 });
    }

    await signInBrowser(c, account);
    // Someone without appliances who was not sent here from another page starts with a new one.
    const begins = isFront(url) && !(await hasAppliances(db, account.id));
    return c.redirect(begins ? new URL("/appliances/new", baseUrl).href : url, 303);
  });

const isFront = (url: string): boolean => {
  const { pathname, search } = new URL(url);
  return pathname === "/" && search === "";
};

const SignIn = ({ to, username = "", isWrong }: { to: string; username?: string; isWrong?: boolean }) => (
  <Content>
    <div class="sign-in stack">
      <h1>{title}</h1>
      {isWrong && (
        <Notice tone="bad" role="alert">
          That name and password do not match.
        </Notice>
      )}
      <Form action={signInPath} class="panel stack">
        <Hidden fields={{ to }} />
        <Field
          name="name"
          label="Account name"
          value={username}
          also={{ autocomplete: "username", autocapitalize: "none", spellcheck: "false" }}
          required
        />
        <Field
          name="password"
          label="Password, or API key"
          type="password"
          also={{ autocomplete: "current-password" }}
          required
        />
        <Button look="primary large" icon="log-in">
          {title}
        </Button>
      </Form>
      <p class="small-text quiet">
        Accounts are created by the people who run this service. You can browse the <a href="/">gallery</a> without one.
      </p>
    </div>
  </Content>
);

const NeedsTls = ({ baseUrl }: { baseUrl: string }) => (
  <Content>
    <div class="stack narrow">
      <h1>{title}</h1>
      <Notice tone="bad" role="alert">
        You cannot sign in at <code>{baseUrl}</code>, because it is not encrypted. Anyone on the network could read your
        password, and browsers do not keep the sign-in.
      </Notice>
      <p>
        Open this service by an address that begins with <code>https://</code>. If there is none, the people who run the
        service must set up TLS, or a proxy with TLS and <code>--base-url https://…</code>. On the machine itself,{" "}
        <code>http://localhost</code> works too.
      </p>
    </div>
  </Content>
);
