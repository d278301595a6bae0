import type { Context } from "hono";
import { z } from "zod";
import { createAccount, setOperator } from "#domain/accounts/account";
import { lockAccount, unlockAccount } from "#domain/accounts/lock";
import { diskUseByKind, quotaGbOf, setQuota } from "#domain/accounts/quota";
import { removeAccount } from "#domain/accounts/removal";
import { Refusal } from "#domain/refusal";
import { AccountRequest, QuotaRequest } from "#model/account-request";
import { findAccount, pageOfAccounts, type Account } from "#storage/accounts";
import { auditedOperation } from "../../audited.ts";
import { factory, type WebEnv } from "../../factory.ts";
import { submit } from "../../submit.ts";
import { AccountView, AccountsView, type NewAccount } from "./accounts-view.tsx";
import { accountsPath, servicePage } from "./service-page.tsx";

const perPage = 50;
const one = `${accountsPath}/:name`;
const NewAccountForm = AccountRequest.pick({ username: true, email: true, displayName: true });
const { gb } = QuotaRequest.shape;
const QuotaForm = z.object({
  gb: z
    .string()
    .optional()
    .transform((text) => (text === undefined ? null : Number(text)))
    .pipe(gb),
});
const LockForm = z.object({ state: z.enum(["locked", "open"]) });
const RoleForm = z.object({ role: z.enum(["operator", "user"]) });

/** The accounts of the service. `serviceOverview` requires an operator. */
export const serviceAccounts = factory
  .createApp()
  .get(accountsPath, (c) => showAccounts(c))
  .post(accountsPath, (c) =>
    submit(c, {
      fields: NewAccountForm,
      fieldOf: { invalid_value: "username" },
      again: (c) => showAccounts(c),
      act: async (request) => {
        const db = auditedOperation(c, { event: "account.created", detail: { username: request.username } });
        return await showAccounts(c, await createAccount(db, c.env, request));
      },
    }),
  )
  .get(one, (c) => showAccount(c))
  .post(`${one}/quota`, (c) =>
    change(c, QuotaForm, async ({ gb }, account) => {
      const quota = gb === null ? "default" : `${gb}GB`;
      await setQuota(acting(c, account, "quota.changed", { quota }), account, gb);
      return `The quota of ${account.username} is changed.`;
    }),
  )
  .post(`${one}/lock`, (c) =>
    change(c, LockForm, async ({ state }, account) => {
      if (state === "locked") await lockAccount({ env: c.env, db: acting(c, account, "account.locked") }, account);
      else await unlockAccount(acting(c, account, "account.unlocked"), account);
      return state === "locked" ? `${account.username} is locked.` : `${account.username} is unlocked.`;
    }),
  )
  .post(`${one}/role`, (c) =>
    change(c, RoleForm, async ({ role }, account) => {
      const event = role === "operator" ? "operator.added" : "operator.removed";
      await setOperator(acting(c, account, event), account, role);
      return role === "operator"
        ? `${account.username} may operate the service.`
        : `${account.username} may no longer operate the service.`;
    }),
  )
  .post(`${one}/remove`, (c) =>
    submit(c, {
      evenReadOnly: true,
      again: showAccount,
      act: async () => {
        const account = await getAccount(c);
        await removeAccount({ env: c.env, db: acting(c, account, "account.removed") }, account);
        return { to: accountsPath, result: { text: `${account.username} is removed.` } };
      },
    }),
  );

/** Handles a form about one account. `act` returns the message to show. */
const change = <T extends z.ZodType>(
  c: Context<WebEnv>,
  fields: T,
  act: (values: z.output<T>, account: Account) => Promise<string>,
): Promise<Response> =>
  submit(c, {
    fields,
    evenReadOnly: true,
    again: showAccount,
    act: async (values) => {
      const account = await getAccount(c);
      return { to: `${accountsPath}/${account.username}`, result: { text: await act(values, account) } };
    },
  });

const acting = (
  c: Context<WebEnv>,
  { id: accountId, username }: Account,
  event: Parameters<typeof auditedOperation>[1]["event"],
  detail = {},
) => auditedOperation(c, { event, accountId, detail: { username, ...detail } });

async function getAccount(c: Context<WebEnv>): Promise<Account> {
  const account = await findAccount(c.var.db, c.req.param("name") ?? "");
  if (account) return account;
  throw new Refusal("invalid_username", { reason: "unknown", message: "There is no such account." });
}

async function showAccounts(c: Context<WebEnv>, fresh?: NewAccount): Promise<Response> {
  const after = /^\d{1,15}$/.exec(c.req.query("after") ?? "")?.[0] ?? 0;
  // Reads one more than the page shows, to know whether there is another page.
  const found = await pageOfAccounts(c.var.db, { after: Number(after), limit: perPage + 1 });
  const accounts = found.slice(0, perPage).map((each) => ({ ...each, quota: quotaGbOf(c.env, each) }));
  const content = <AccountsView accounts={accounts} hasMore={found.length > perPage} fresh={fresh} />;
  return await servicePage(c, content, { title: "Accounts", tab: accountsPath });
}

async function showAccount(c: Context<WebEnv>): Promise<Response> {
  const account = await getAccount(c);
  const disk = await diskUseByKind({ env: c.env, db: c.var.db }, account);
  const isSelf = account.id === c.var.account.id;
  const content = <AccountView account={account} disk={disk} usualGb={c.env.ACCOUNT_QUOTA_GB} isSelf={isSelf} />;
  return await servicePage(c, content, { title: `Account ${account.username}`, tab: accountsPath });
}
