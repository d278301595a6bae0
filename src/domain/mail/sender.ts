import { post, type Outcome } from "#domain/events/post";
import { baseUrlOf } from "#domain/base-url";

/** Declared without the types of Workers, because a test sends from Node. */
export interface MailEnv {
  MAIL_URL: string;
  MAIL_FROM: string;
  MAIL_TOKEN?: string;
  BASE_URL: string;
}

export interface Mail {
  to: string;
  subject: string;
  text: string;
  headers: Record<string, string>;
}

/** Whether the operator has configured everything that mail needs. Its links need the service's address. */
export const sendsMail = (env: MailEnv): boolean =>
  env.MAIL_URL !== "" && env.MAIL_FROM !== "" && baseUrlOf(env) !== "";

/**
 * Gives a mail to the operator's sender, as JSON. The operator chose the sender's address, so it may be in a private
 * network. If the sender has already received a mail with this `key`, it does not send it again.
 */
export async function sendMail(env: MailEnv, mail: Mail, key: string): Promise<Outcome> {
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "User-Agent": "Kiln-Mail",
    "Idempotency-Key": key,
    ...(env.MAIL_TOKEN && { Authorization: `Bearer ${env.MAIL_TOKEN}` }),
  };
  const body = JSON.stringify({ from: env.MAIL_FROM, ...mail });
  return await post((url, init) => fetch(url, init), env.MAIL_URL, { headers, body });
}
