import { sendsMail, type MailEnv } from "#domain/mail/sender";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { saveMailsAdvisories, type Account } from "#storage/accounts";

/** Sets whether advisories about the account's images are mailed to it. */
export async function setAdvisoryMail(
  { env, db }: Services<MailEnv>,
  account: Pick<Account, "id">,
  isWanted: boolean,
): Promise<void> {
  if (isWanted && !sendsMail(env)) throw new Refusal("invalid_value", { message: "This service sends no mail." });
  await saveMailsAdvisories(db, account.id, isWanted);
}
