import type { AdminClient } from "../admin/client.ts";

export type FirstAccount = {
  username: string;
  apiKey: string;
  /** Known only during the start that created the account. */
  password: string | undefined;
};

const firstUsername = "tux";

/** The account in the summary: tux, or else the oldest one. If the service has no account, creates tux. */
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
