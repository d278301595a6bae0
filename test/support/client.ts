import { env, exports } from "cloudflare:workers";
import { encrypt, keyedHash, newPassword } from "#domain/secrets";
import { addAccount } from "#storage/accounts";

/** A REST client with credentials. Its calls go through the whole Worker. */
export interface Client {
  accountId: number;
  accountUid: string;
  username: string;
  apiKey: string;
  /** `path` is below /api/v2/user, or below v1 on request, such as "/appliances". */
  get: (path: string, init?: RequestInit) => Promise<Response>;
  delete: (path: string) => Promise<Response>;
  /** Parameters in the query string, as most clients send them. */
  post: (path: string, params?: Record<string, string | number>) => Promise<Response>;
  put: (path: string, body: string, contentType?: string) => Promise<Response>;
  on: (version: "v1" | "v2") => Client;
}

const origin = "https://kiln.test";
let accounts = 0;

/** A new account with its API key. */
export async function signedIn(): Promise<Client> {
  const { openDatabase } = await import("#storage/db");
  accounts += 1;
  const username = `tux${accounts}-${crypto.randomUUID().slice(0, 8)}`;
  const apiKey = newPassword(20);
  const account = await addAccount(openDatabase(env), {
    username,
    displayName: username,
    email: `${username}@example.org`,
    apiKeyHmac: keyedHash(env.API_KEY_PEPPER, apiKey),
    apiKeyCipher: await encrypt(env.API_KEY_ENCRYPTION_KEY, apiKey),
    passwordHash: "BwcHBwcHBwcHBwcHBwcHBw==$DwyUzmUaiGFG9yz8ckTfVXofGXa5D5aJ1NY15rEoFJ0=",
    createdAt: new Date(),
  });
  if (!account) throw new Error("no account");
  return client({ accountId: account.id, accountUid: account.uid, username, apiKey }, "v2");
}

/** The same account with another key, or with a token. */
export const withKey = (who: Client, apiKey: string): Client => client({ ...who, apiKey }, "v2");

function client(who: Pick<Client, "accountId" | "accountUid" | "username" | "apiKey">, version: "v1" | "v2"): Client {
  const call = (method: string, path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Basic ${btoa(`${who.username}:${who.apiKey}`)}`);
    return exports.default.fetch(`${origin}/api/${version}/user${path}`, { ...init, method, headers });
  };
  return {
    ...who,
    get: (path, init) => call("GET", path, init),
    delete: (path) => call("DELETE", path),
    post: (path, params = {}) => {
      const query = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
      return call("POST", `${path}?${query}`);
    },
    put: (path, body, contentType = "application/xml") =>
      call("PUT", path, { body, headers: { "content-type": contentType } }),
    on: (other) => client(who, other),
  };
}

/** A request without credentials, or with explicit ones. `path` starts at the root. */
export const visit = (path: string, init?: RequestInit): Promise<Response> =>
  exports.default.fetch(/^https?:/.test(path) ? path : origin + path, init);

/** A call to the admin API. */
export const operate = (method: string, path: string, body?: unknown): Promise<Response> =>
  visit(`/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${env.ADMIN_SECRET}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
