import { browserWith, sessionOf } from "./browser.ts";
import { operate, signedIn } from "./client.ts";

/** A new account of an operator, its browser, and how that sends a form. */
export async function operatorsBrowser() {
  const ops = await signedIn();
  await operate("PUT", `/accounts/${ops.username}/operator`, { operator: true });
  const firefox = browserWith((await sessionOf(ops)).secret);
  const token = await firefox.formToken();
  const send = (path: string, form: Record<string, string> = {}) => firefox.post(path, { form_token: token, ...form });
  return { ops, firefox, send };
}

export type Operator = Awaited<ReturnType<typeof operatorsBrowser>>;
