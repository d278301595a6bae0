import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { closed, listening } from "./listening.ts";

/** A stand-in for the deployed service's admin routes. It answers only if the request has the Worker's secret. */
export async function startService(secretOf: () => string | undefined) {
  const state = { accounts: [] as string[], catalogues: [] as string[], agents: new Map<string, string>(), made: 0 };
  const server = createServer(async (request, response) => {
    const send = (status: number, content: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
    const secret = secretOf();
    if (secret === undefined) return request.socket.destroy();
    if (request.headers.authorization !== `Bearer ${secret}`) {
      return send(401, { error: { code: "access_denied", message: "The admin secret is wrong." } });
    }
    const body: unknown = request.method === "GET" ? {} : await json(request).catch(() => ({}));
    return send(200, answer(state, `${request.method} ${request.url?.replace("/admin", "")}`, Object(body)));
  });
  const url = await listening(server);
  onTestFinished(() => closed(server));
  return { url, state };
}

type State = { accounts: string[]; catalogues: string[]; agents: Map<string, string>; made: number };

function answer(state: State, call: string, body: Record<string, unknown>): unknown {
  const [, name = ""] = /^\S+ \/\w+\/(.*)$/.exec(call) ?? [];
  const text = (key: string) => String(body[key]);
  if (call === "GET /health") return { ok: true, version: "0.1.0", wasm: true };
  if (call === "GET /accounts") return { accounts: state.accounts.map(account) };
  if (call === "POST /accounts") {
    state.accounts.push(text("username"));
    return { username: text("username"), apiKey: "key-of-the-account", password: "password-of-it" };
  }
  if (call === "GET /catalogues") return { catalogues: state.catalogues.map(catalogue) };
  if (call.startsWith("PUT /catalogues/")) return (state.catalogues.push(name), { templates: 4 });
  if (call === "GET /agents") {
    return {
      agents: [...state.agents.keys()].map((name) => ({
        id: 1,
        name,
        lastSeenAt: null,
        drainedAt: null,
        capabilities: null,
      })),
    };
  }
  if (call === "POST /agents") {
    const token = `token-${++state.made}`;
    state.agents.set(text("name"), token);
    return { id: state.made, name: text("name"), token };
  }
  if (call.startsWith("DELETE /agents/")) return (state.agents.delete(name), { removed: name });
  throw new Error(`the service has no ${call}`);
}

const at = "2026-11-22T12:00:00.000Z";
const account = (username: string) => ({
  username,
  email: "a@example.org",
  displayName: null,
  createdAt: at,
  lockedAt: null,
  quotaGb: 20,
  hasOwnQuota: false,
});
const catalogue = (name: string) => ({
  name,
  repositories: [{ name: "main", url: "http://deb.debian.org/debian", state: "ready", problem: null, importedAt: at }],
});
