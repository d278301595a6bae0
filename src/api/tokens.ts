import { z } from "zod";
import { success } from "#documents/success";
import { newToken, tokens as tokensDocument } from "#documents/token";
import { scopes } from "#model/scope";
import { createToken, revokeToken } from "#domain/accounts/tokens";
import { v2 } from "#api/operation";
import { listTokens } from "#storage/tokens";
import { call, type CallGroup } from "#api/call";
import { id, text } from "#http/params";

const TokenRequest = z.object({
  name: text(),
  scope: z.enum(scopes, { error: ({ input }) => (input === undefined ? "missing_parameter" : "invalid_value") }),
  appliance_id: id("invalid_appliance_id").optional(),
  expires_at: z.iso
    .datetime({ offset: true, error: "invalid_value" })
    .transform((moment) => new Date(moment))
    .optional(),
});

const ofAccount = { access: "own", versions: v2, scope: "key" } as const;

export const tokens: CallGroup = {
  title: "Tokens",
  about: "Secrets for programs, which may do less than the account's API key. These calls need the key itself.",
  operations: [
    call("GET /tokens", {
      name: "listTokens",
      ...ofAccount,
      summary: "Your tokens, and when each was last used",
      answer: tokensDocument,
      act: ({ db, account }) => listTokens(db, account.id),
    }),
    call("POST /tokens", {
      name: "createToken",
      ...ofAccount,
      summary: "Make a token",
      details: "The answer has its secret, which is shown only once. Use it instead of the API key.",
      params: TokenRequest,
      about: {
        name: "What it is for.",
        scope: "`build` includes `read`, and `publish` includes `build`.",
        appliance_id: "The only appliance that it reaches. Default: all of yours.",
        expires_at: "When it stops working, such as `2027-01-31T12:00:00Z`. Default: never.",
      },
      answer: newToken,
      isSecret: true,
      refuses: ["missing_parameter", "invalid_value", "invalid_appliance_id", "unknown_error"],
      audit: {
        event: "token.created",
        detail: ({ appliance_id, name, scope }) => ({
          token_name: name,
          scope,
          ...(appliance_id !== undefined && { appliance_id }),
        }),
      },
      act: async ({ env, db, account, requestId }, request) => {
        const { name, scope, appliance_id: applianceId = null, expires_at: expiresAt = null } = request;
        const made = await createToken({ env, db }, account.id, { name, scope, applianceId, expiresAt, requestId });
        return { ...made.token, secret: made.secret };
      },
    }),
    call("DELETE /tokens/{token_id}", {
      name: "revokeToken",
      ...ofAccount,
      ids: { token_id: "unknown_error" },
      summary: "Revoke a token: it stops working immediately",
      answer: success,
      audit: { event: "token.revoked", detail: ({ token_id }) => ({ token_id }) },
      act: ({ env, db, account }, { token_id }) => revokeToken({ env, db }, account, token_id),
    }),
  ],
};
