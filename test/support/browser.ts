import { env } from "cloudflare:workers";
import { startSession } from "#domain/accounts/sessions";
import { findAccount } from "#storage/accounts";
import { openDatabase } from "#storage/db";
import { listSessions } from "#storage/sessions";
import { visit, type Client } from "./client.ts";

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** A browser. It keeps the cookie that it receives, and follows no redirect automatically. */
export function browser({ origin = "https://kiln.test", cookie = "", userAgent = firefox } = {}) {
  const jar = cookieJar(cookie);
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("user-agent", userAgent);
    if (jar.cookie !== "") headers.set("cookie", jar.cookie);
    const answer = await visit(origin + path, { ...init, headers, redirect: "manual" });
    for (const cookie of answer.headers.getSetCookie()) jar.take(cookie);
    return answer;
  };
  const post = (
    path: string,
    form: Record<string, string> | [string, string][],
    headers: Record<string, string> = {},
  ) => ask(path, { method: "POST", body: new URLSearchParams(form), headers: { origin, ...headers } });
  return {
    jar,
    get: (path: string, headers: Record<string, string> = {}) => ask(path, { headers }),
    post,
    /** Creates a session without the form, because checking a password takes a tenth of a second of processor time. */
    beginSession: async (tux: Client) => jar.take(sessionCookie((await sessionOf(tux)).secret)),
    signIn: ({ username }: Client, password = "correct horse", form: Record<string, string> = {}) =>
      post("/sign_in", { name: username, password, ...form }),
    /** The token of the forms on the sessions page. */
    formToken: async () => {
      const html = await (await ask("/account/sessions")).text();
      return /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";
    },
  };
}

function cookieJar(first: string) {
  const [name = "", ...value] = first.split("=");
  const cookies = new Map(first === "" ? [] : [[name, value.join("=")]]);
  return {
    get cookie() {
      return [...cookies].map((one) => one.join("=")).join("; ");
    },
    take: (cookie: string) => {
      const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split(/=(.*)/s);
      if (/Max-Age=0/.test(cookie)) cookies.delete(name);
      else cookies.set(name, value);
    },
  };
}

export const sessionsOf = ({ accountId }: Client) => listSessions(openDatabase(env), accountId, new Date(0));

/** Starts a browser's session; returns its id and secret. */
export async function sessionOf(tux: Client): Promise<{ id: number; secret: string }> {
  const db = openDatabase(env);
  const account = await findAccount(db, tux.username);
  if (!account) throw new Error("no account");
  const from = { userAgent: firefox, address: "192.0.2.7", before: undefined };
  const secret = await startSession({ env, db }, account, from);
  return { id: (await sessionsOf(tux)).at(-1)?.id ?? 0, secret };
}

/** The page that only a signed-in browser gets. */
export const sessionsPage = "/account/sessions";

export const statusOf = async (answer: Promise<Response>) => (await answer).status;
const sessionCookie = (secret: string) => `__Host-kiln-session=${secret}`;
export const browserWith = (secret: string) => browser({ cookie: sessionCookie(secret) });
export const isSignedIn = async (one: { get: (path: string) => Promise<Response> }) =>
  (await statusOf(one.get(sessionsPage))) === 200;
