import type { AdminClient } from "../admin/client.ts";

export type FirstAccount = {
  username: string;
  apiKey: string;
  /** Known in the start that made the account, and never again. */
  password: string | undefined;
};

const firstUsername = "tux";

/** The account that the summary shows: tux, made when the service has no account at all; else the oldest one. */
export async function firstAccount(admin: AdminClient): Promise<FirstAccount> {
  const accounts = await admin.accounts();
  const known = accounts.find((each) => each.username === firstUsername) ?? accounts[0];
  if (known) return { username: known.username, apiKey: await admin.apiKey(known.username), password: undefined };
  const made = await admin.addAccount({
    username: firstUsername,
    email: `${firstUsername}@localhost`,
    displayName: "Tux",
  });
  return { username: made.username, apiKey: made.apiKey, password: made.password ?? undefined };
}
