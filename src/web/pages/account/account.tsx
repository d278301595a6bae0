import type { Context } from "hono";
import { z } from "zod";
import { changePassword, renewApiKey, showApiKey } from "#domain/accounts/account";
import { sendsMail } from "#domain/mail/sender";
import { setAdvisoryMail } from "#domain/mail/setting";
import { Refusal } from "#domain/refusal";
import { passwordLength } from "#model/account-request";
import { clientAddress } from "#http/client-address";
import { flag } from "#http/params";
import { readKeys } from "#storage/account-ssh-keys";
import { findAccount } from "#storage/accounts";
import { auditedPage } from "../../audited.ts";
import { factory, type WebEnv } from "../../factory.ts";
import { signInBrowser, withSession } from "../../session.ts";
import { submit } from "../../submit.ts";
import { accountPage } from "./account-page.tsx";
import { accountPath, AccountView, mailPath, type ShownSecret } from "./view.tsx";

const { min, max } = passwordLength;
const passwordRule = `A password must have ${min} to ${max} characters.`;
const Passwords = z.object({
  password: z.string({ error: "Enter the current password." }),
  new_password: z.string({ error: passwordRule }).min(min, passwordRule).max(max, passwordRule),
});

/** The keys of an account. */
export const accountPages = factory
  .createApp()
  .use(`${accountPath}/*`, withSession)
  .get(accountPath, (c) => showAccount(c))
  .post(`${accountPath}/api_key`, (c) =>
    submit(c, {
      again: showAccount,
      act: async () => {
        await renewApiKey({ env: c.env, db: auditedPage(c, { event: "key.renewed" }) }, c.var.account);
        await signInAgain(c);
        return { to: accountPath, result: { text: "The key is a new one. The old one no longer works." } };
      },
    }),
  )
  .post(mailPath, (c) =>
    submit(c, {
      fields: z.object({ advisories: flag.default(false) }),
      again: showAccount,
      act: async ({ advisories }) => {
        const db = auditedPage(c, { event: "mail.changed" });
        await setAdvisoryMail({ env: c.env, db }, c.var.account, advisories);
        const text = advisories ? "Advisories are mailed to you." : "Advisories are no longer mailed to you.";
        return { to: accountPath, result: { text } };
      },
    }),
  )
  .post(`${accountPath}/password`, (c) =>
    submit(c, {
      fields: Passwords,
      fieldOf: { invalid_value: "password" },
      again: showAccount,
      act: async ({ password: key, new_password: wanted }) => {
        const { account } = c.var;
        const given = { username: account.username, key, address: clientAddress(c.req.raw, c.env) };
        await changePassword({ env: c.env, db: auditedPage(c, { event: "password.changed" }) }, given, wanted).catch(
          wrongPassword,
        );
        await signInAgain(c);
        return { to: accountPath, result: { text: "The password is changed. All other browsers are signed out." } };
      },
    }),
  );

/** The person is already signed in, so a wrong password only shows the form again. */
function wrongPassword(error: unknown): never {
  if (error instanceof Refusal && error.code === "access_denied") {
    throw new Refusal("invalid_value", { message: error.message });
  }
  throw error;
}

/** A change that ends all sessions leaves this browser signed in. */
async function signInAgain(c: Context<WebEnv>): Promise<void> {
  const account = await findAccount(c.var.db, c.var.account.username);
  if (account) await signInBrowser(c, account);
}

/** How many appliances the form of a token suggests. Others can be typed. */
export const maxReachable = 200;

/** The page, possibly with a secret that it shows once. */
export async function showAccount(c: Context<WebEnv>, fresh?: ShownSecret): Promise<Response> {
  const { db, account, baseUrl } = c.var;
  const [apiKey, keys] = await Promise.all([showApiKey(c.env, account), readKeys(db, account.id, maxReachable)]);
  const props = { account, baseUrl, apiKey, ...keys, sendsMail: sendsMail(c.env), fresh };
  const content = <AccountView {...props} now={Date.now()} />;
  return await accountPage(c, content, { title: "API keys and account", tab: accountPath });
}
