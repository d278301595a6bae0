import { readParams } from "#http/params";
import { renewApiKey, showApiKey } from "#domain/accounts/account";
import { Refusal } from "#domain/refusal";
import { keyedHash, sameSecret } from "#domain/secrets";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import type { Account } from "#storage/accounts";
import { auditedPage } from "../../audited.ts";
import { factory } from "../../factory.ts";
import { Column } from "../../parts/column.tsx";
import { page } from "../../page.tsx";
import { signIn } from "../../basic-sign-in.tsx";
import { personOf } from "../../session.ts";

const path = "/user/show_api_key";

export const apiKey = factory
  .createApp()
  .use(path, signIn)
  .get(path, async (c) => {
    if (await personOf(c)) return c.redirect("/account", 303);
    const key = await showApiKey(c.env, c.var.account);
    // Not compressed: other sites can make browsers send these credentials, and the page contains the key as well as
    // its own address (BREACH).
    c.header("Cache-Control", "no-store, no-transform");
    const formToken = formTokenOf(c.env, c.var.account);
    return await page(c, <ApiKey account={c.var.account} apiKey={key} formToken={formToken} />, { title: "API key" });
  })
  .post(path, async (c) => {
    // While data is being migrated, a new key could be lost, and the old one would work again.
    await refuseInReadOnlyMode({ env: c.env, db: c.var.db });
    const { form_token: given = "" } = await readParams(c);
    if (!sameSecret(given, formTokenOf(c.env, c.var.account))) {
      throw new Refusal("access_denied", { message: "This form has expired. Please open the page again." });
    }

    const db = auditedPage(c, { event: "key.renewed" });
    const key = await renewApiKey({ env: c.env, db }, c.var.account);

    return await page(c, <ApiKey account={c.var.account} apiKey={key} isNew />, { title: "New API key" });
  });

/** Binds the form to the account and to its current key, so that it works only once. */
const formTokenOf = (secrets: Pick<Env, "API_KEY_PEPPER">, account: Account): string =>
  keyedHash(secrets.API_KEY_PEPPER, `renew API key ${account.id} ${account.apiKeyHmac}`);

interface ApiKeyProps {
  account: Account;
  apiKey: string;
  isNew?: boolean;
  /** Without it there is no button, because the browser may still send the old credentials. */
  formToken?: string;
}

const ApiKey = ({ account, apiKey, isNew, formToken }: ApiKeyProps) => (
  <Column>
    <h1>{isNew ? "Your new API key" : "Your API key"}</h1>
    <p>
      Programs sign in as <strong>{account.username}</strong> with this key instead of a password. Keep it secret.
    </p>
    <p class="key">
      <span class="svc:api_key">{apiKey}</span>
    </p>
    {isNew && (
      <p role="status">
        The old key no longer works. <a href={path}>Back to your key</a> (your browser may ask you to sign in again).
      </p>
    )}
    {formToken && (
      <form method="post" action={path}>
        <h2>Has your key leaked?</h2>
        <p>Make a new one. The old key stops working immediately, so every program that uses it needs the new one.</p>
        <input type="hidden" name="form_token" value={formToken} />
        <button class="button" type="submit">
          Make a new key
        </button>
      </form>
    )}
  </Column>
);
