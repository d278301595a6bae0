import type { AdminClient } from "../admin/client.ts";
import { Complaint } from "./complaint.ts";
import { warn } from "./progress.ts";

export type FirstAccount = {
  username: string;
  /** Empty if the service cannot decrypt it. */
  apiKey: string;
  /** Known only during the start that created the account. */
  password: string | undefined;
};

const firstUsername = "tux";

/** The account in the summary: tux, or else the oldest one. If the service has no account, creates tux. */
export async function firstAccount(admin: AdminClient, stateDirectory: string): Promise<FirstAccount> {
  const accounts = await admin.accounts();
  const known = accounts.find((each) => each.username === firstUsername) ?? accounts[0];
  if (known)
    return { username: known.username, apiKey: await readKey(admin, known, stateDirectory), password: undefined };
  const made = await admin.addAccount({
    username: firstUsername,
    email: `${firstUsername}@localhost`,
    displayName: "Tux",
  });
  return { username: made.username, apiKey: made.apiKey, password: made.password ?? undefined };
}

/** The account's API key. A service whose encryption key was lost or replaced is still started, without it. */
async function readKey(
  admin: AdminClient,
  { username }: { username: string },
  stateDirectory: string,
): Promise<string> {
  try {
    return await admin.apiKey(username);
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    warn(`The API key of ${username} cannot be read: API_KEY_ENCRYPTION_KEY is not the key that encrypted it.`);
    warn(`To make a new API key, run npm run admin -- account rekey ${username} --state ${stateDirectory}`);
    return "";
  }
}
