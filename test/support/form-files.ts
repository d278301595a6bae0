import type { browser } from "./browser.ts";
import { visit } from "./client.ts";

/** Sends a form with files, like a browser. Without files, it sends one without a name. */
export async function sendFiles(
  firefox: ReturnType<typeof browser>,
  path: string,
  { fields = {}, files = [] }: { fields?: Record<string, string>; files?: File[] },
): Promise<Response> {
  const form = new FormData();
  const sent = { form_token: await firefox.formToken(), ...fields };
  for (const [name, value] of Object.entries(sent)) form.set(name, value);
  for (const file of files.length > 0 ? files : [new File([], "")]) form.append("file", file);
  const headers = { cookie: firefox.jar.cookie, origin: "https://kiln.test", accept: "text/html" };
  return await visit(path, { method: "POST", body: form, headers, redirect: "manual" });
}
