import type { Context } from "hono";
import { z } from "zod";
import { createToken, revokeToken } from "#domain/accounts/tokens";
import { Refusal } from "#domain/refusal";
import { scopes } from "#model/scope";
import { listReachable } from "#storage/tokens";
import { auditedPage } from "../../audited.ts";
import { factory, type WebEnv } from "../../factory.ts";
import { exactTime } from "../../parts/words.ts";
import { submit } from "../../submit.ts";
import { maxReachable, showAccount } from "./account.tsx";
import { applianceIn, scopeWords, terms, tokensPath } from "./tokens-panel.tsx";
import { accountPath } from "./view.tsx";

const dayMs = 24 * 60 * 60_000;
const nameRule = "Enter a name of at most 100 characters.";
const TokenForm = z.object({
  name: z.string({ error: nameRule }).max(100, nameRule),
  scope: z.enum(scopes, { error: "Choose what it can do." }),
  term: z.enum(["month", "year", "never"], { error: "Choose when it expires." }),
  appliance: z.string().optional(),
});

/** Creates and revokes tokens. `accountPages` requires the session. */
export const tokenForms = factory
  .createApp()
  .post(tokensPath, (c) =>
    submit(c, {
      fields: TokenForm,
      fieldOf: { invalid_appliance_id: "appliance" },
      again: (c) => showAccount(c),
      act: async ({ name, scope, term, appliance }, { requestId }) => {
        const { account } = c.var;
        const applianceId = appliance === undefined ? null : await applianceMeant(c, appliance);
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

/** The id of an appliance that was chosen, or typed as a name or a number. */
async function applianceMeant(c: Context<WebEnv>, typed: string): Promise<number> {
  const number = applianceIn(typed);
  if (number !== undefined) return number;
  const reachable = await listReachable(c.var.db, c.var.account.id, maxReachable);
  const [found, second] = reachable.filter(({ name }) => name === typed);
  if (found && !second) return found.id;
  const message = second ? "Several appliances have this name: add the number." : "You have no appliance of this name.";
  throw new Refusal("invalid_appliance_id", { message });
}
