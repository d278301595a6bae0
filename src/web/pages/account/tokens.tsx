import { z } from "zod";
import { id } from "#http/params";
import { createToken, revokeToken } from "#domain/accounts/tokens";
import { scopes } from "#model/scope";
import { auditedPage } from "../../audited.ts";
import { factory } from "../../factory.ts";
import { exactTime } from "../../parts/words.ts";
import { submit } from "../../submit.ts";
import { showAccount } from "./account.tsx";
import { scopeWords, terms, tokensPath } from "./tokens-panel.tsx";
import { accountPath } from "./view.tsx";

const dayMs = 24 * 60 * 60_000;
const nameRule = "Enter a name of at most 100 characters.";
const TokenForm = z.object({
  name: z.string({ error: nameRule }).max(100, nameRule),
  scope: z.enum(scopes, { error: "Choose what it can do." }),
  term: z.enum(["month", "year", "never"], { error: "Choose when it expires." }),
  appliance_id: id("invalid_appliance_id").optional(),
});

/** Creates and revokes tokens. `accountPages` requires the session. */
export const tokenForms = factory
  .createApp()
  .post(tokensPath, (c) =>
    submit(c, {
      fields: TokenForm,
      fieldOf: { invalid_appliance_id: "appliance_id" },
      again: (c) => showAccount(c),
      act: async ({ name, scope, term, appliance_id: applianceId = null }, { requestId }) => {
        const { account } = c.var;
        const days = terms[term];
        const expiresAt = days === undefined ? null : new Date(Date.now() + days * dayMs);
        const detail = { token_name: name, scope, ...(applianceId !== null && { appliance_id: applianceId }) };
        const db = auditedPage(c, { event: "token.created", detail });
        const { secret } = await createToken({ env: c.env, db }, account.id, {
          name,
          scope,
          applianceId,
          expiresAt,
          requestId,
        });
        const end = expiresAt ? `Expires on ${exactTime(expiresAt)}.` : "It does not expire.";
        return await showAccount(c, {
          title: `“${name}” is ready.`,
          secret,
          about: `Can ${scopeWords[scope]}. ${end}`,
        });
      },
    }),
  )
  .post(`${tokensPath}/:id{\\d{1,15}}/revoke`, (c) =>
    submit(c, {
      again: (c) => showAccount(c),
      act: async () => {
        const token = Number(c.req.param("id"));
        const db = auditedPage(c, { event: "token.revoked", detail: { token_id: token } });
        await revokeToken({ env: c.env, db }, c.var.account, token);
        return { to: accountPath, result: { text: "The token is revoked." } };
      },
    }),
  );
