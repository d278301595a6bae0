import { z } from "zod";
import { auditLog } from "#documents/audit-log";
import { success } from "#documents/success";
import { changePassword, getByPassword } from "#domain/accounts/account";
import { removeAccount } from "#domain/accounts/removal";
import { clientAddress } from "#http/client-address";
import { account, apiVersion, limits, templateSet, templateSets } from "#documents/account";
import { usedLimits } from "#domain/accounts/limits";
import { diskQuota, diskUseByKind } from "#domain/accounts/quota";
import { setAdvisoryMail } from "#domain/mail/setting";
import { Refusal } from "#domain/refusal";
import { offered } from "#domain/appliances/template-set";
import { passwordLength } from "#model/account-request";
import { findTemplateSet, listTemplateSets } from "#storage/template-sets";
import { listAuditLog } from "#storage/audit-log";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";
import { flag, id } from "#http/params";

const maxEntries = 100;
const byKey = { access: "own", versions: v2, scope: "key" } as const;
const forEveryone = { access: "public", isForAll: true } as const;
const { min, max } = passwordLength;
const PasswordChange = z.object({
  password: z.string({ error: "missing_parameter" }).max(max, "invalid_value"),
  new_password: z.string({ error: "missing_parameter" }).min(min, "invalid_value").max(max, "invalid_value"),
});

export const general: CallGroup = {
  title: "General",
  about: "Your account, the version of the API, and the templates.",
  operations: [
    call("GET /account", {
      name: "getAccount",
      access: "own",
      isForAll: true,
      summary: "Your account, and how much of its disk quota is used",
      answer: account,
      act: async ({ env, db, account }) => ({
        account,
        openIdUrls: [],
        quota: await diskQuota({ env, db }, account),
      }),
    }),
    call("PUT /account/password", {
      name: "changePassword",
      ...byKey,
      audit: { event: "password.changed" },
      summary: "Change the password",
      details: "Send both passwords in the body: URLs are often logged. The API key and tokens stay as they are.",
      params: PasswordChange,
      about: { password: "The current password.", new_password: "8 to 200 characters." },
      answer: success,
      refuses: ["missing_parameter", "invalid_value", "access_denied"],
      act: ({ env, db, account }, { password: key, new_password: wanted }, c) => {
        const given = { username: account.username, key, address: clientAddress(c.req.raw, env) };
        return changePassword({ env, db }, given, wanted);
      },
    }),
    call("PUT /account/mail", {
      name: "setMail",
      ...byKey,
      audit: { event: "mail.changed" },
      summary: "Choose whether Kiln mails you",
      details:
        "Advisories about your images that an update fixes, to the email address of the account: once a day at most, and within " +
        "minutes if one is known to be exploited. `GET account` has `mails_advisories`, as JSON.",
      params: z.object({ advisories: flag }),
      about: { advisories: "Whether to mail advisories." },
      answer: success,
      refuses: ["missing_parameter", "invalid_value"],
      act: ({ env, db, account }, { advisories }) => setAdvisoryMail({ env, db }, account, advisories),
    }),
    call("DELETE /account", {
      name: "removeAccount",
      ...byKey,
      audit: { event: "account.removed" },
      summary: "Remove your account with everything that belongs to it",
      details: "It can no longer sign in. The rest is removed within minutes. Send the password in the body.",
      params: PasswordChange.pick({ password: true }),
      about: { password: "The password of the account." },
      answer: success,
      refuses: ["missing_parameter", "invalid_value", "access_denied"],
      act: async ({ env, db, account }, { password: key }, c) => {
        const given = { username: account.username, key, address: clientAddress(c.req.raw, env) };
        await removeAccount({ env, db }, await getByPassword({ env, db }, given));
      },
    }),
    call("GET /account/audit_log", {
      name: "getAuditLog",
      ...byKey,
      summary: "What was done with your account in the last 90 days",
      details: "The latest first, at most 100. For earlier ones, pass the last id as before.",
      params: z.object({ before: id("invalid_value").optional() }),
      about: { before: "Only entries with a smaller id." },
      answer: auditLog,
      refuses: ["invalid_value"],
      act: ({ db, account }, { before }) => listAuditLog(db, { accountId: account.id, before, limit: maxEntries }),
    }),
    call("GET /account/limits", {
      name: "getAccountLimits",
      access: "own",
      isForAll: true,
      versions: v2,
      summary: "The limits of your account, and how much of each it uses",
      details: "A request that exceeds a limit is refused with `unknown_error` and a message that names the limit.",
      answer: limits,
      act: async ({ env, db, account }) => ({
        ...(await usedLimits({ env, db }, account.id)),
        disk: await diskUseByKind({ env, db }, account),
      }),
    }),
    call("GET /api_version", {
      name: "getApiVersion",
      ...forEveryone,
      summary: "The running version: 2.0, or 1.1 on v1",
      answer: apiVersion,
      act: ({ version }) => version.number,
    }),
    call("GET /template_sets", {
      name: "listTemplateSets",
      ...forEveryone,
      summary: "All templates in sets, the default set first",
      answer: templateSets,
      act: async ({ db }) => await offered(db, await listTemplateSets(db)),
    }),
    call("GET /template_sets/{name}", {
      name: "getTemplateSet",
      ...forEveryone,
      summary: "One set of templates",
      about: { name: "Name of the set." },
      unknown: ["invalid_template_set"],
      answer: templateSet,
      act: async ({ db }, { name }) => {
        const set = await findTemplateSet(db, name);
        const [shown] = await offered(db, set ? [set] : []);
        if (!shown) throw new Refusal("invalid_template_set", { reason: "unknown" });
        return shown;
      },
    }),
  ],
};
