import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { failure, ok, refused, type Answer } from "./answer.ts";
import { closed, listening } from "./listening.ts";

const accountId = "0123456789abcdef0123456789abcdef";
export const operatorToken = "operator-token-with-forty-characters-0000";
export const queueToken = "queue-token-with-forty-characters-0000000";

type Consumer = { consumer_id: string; type: string; script?: string; settings: unknown };
type Queue = { id: string; consumers: Consumer[] };
type Worker = {
  secrets: Record<string, string>;
  tag: string;
  versionId: string;
  bindings: unknown[];
  migrationTag?: string;
};
type Asked = { method: string; path: string; body: unknown };

/** A refusal of the API in Cloudflare's form. */
type Fault = { status: number; code: number; message: string } | "lost";

type Decide = (asked: Asked) => Fault | undefined;
const changesFreely: Decide = () => undefined;

/** The state of the account. Tests compare two of them. */
type Account = {
  databases: Map<string, { uuid: string; sql: DatabaseSync }>;
  buckets: Set<string>;
  queues: Map<string, Queue>;
  workers: Map<string, Worker>;
  domains: Set<string>;
  schedules: unknown[];
};

/**
 * A stand-in for Cloudflare's API on loopback, for the calls of the pinned wrangler and of scripts/deploy. Paths,
 * bodies and codes are those in wrangler's source: 7502 a database exists, 10004 a bucket exists, 11009 a queue exists,
 * 11004 a consumer exists, 10007 no such Worker, 10000 no permission.
 */
export async function startCloudflare() {
  const account: Account = {
    databases: new Map(),
    buckets: new Set(),
    queues: new Map(),
    workers: new Map(),
    domains: new Set(),
    schedules: [],
  };
  const changes: Asked[] = [];
  const unknown: string[] = [];
  /** Decides about a request that changes something: nothing, a refusal, or an answer that is lost after the change. */
  let onChange = changesFreely;

  const decideOn = (asked: Asked) => {
    changes.push(asked);
    return onChange(asked);
  };
  const server = createServer(async (request, response) => {
    const path = (request.url ?? "").replace("/client/v4", "");
    const body = await bodyOf(request);
    const method = request.method ?? "";
    const reads = method === "GET" || (path.endsWith("/query") && !/INSERT|CREATE/i.test(JSON.stringify(body)));
    const asked = { method, path: path.split("?")[0] ?? "", body };
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const fault = reads ? undefined : decideOn(asked);
    if (fault !== undefined && fault !== "lost") return send(response, fault.status, failure(fault));
    const answer = token === operatorToken ? answerOf(account, asked, path) : answerToQueueToken(account, token, asked);
    if (answer === undefined) unknown.push(`${method} ${path}`);
    if (fault === "lost") return response.destroy();
    const { status, ...rest } = answer ?? refused(404, 7000, `No route for that URI: ${method} ${path}`);
    return send(response, status, { errors: [], messages: [], result: null, ...rest });
  });
  const url = await listening(server);
  onTestFinished(() => closed(server));
  return {
    account,
    changes,
    unknown,
    url: `${url}/client/v4`,
    onChange: (decide: Decide) => (onChange = decide),
  };
}

const user = { id: "user", email: "operator@example.org" };
const accounts = [{ id: accountId, name: "Operator" }];

function answerOf(account: Account, asked: Asked, url: string): Answer | undefined {
  const { method, path } = asked;
  const own = path.startsWith(`/accounts/${accountId}/`) ? path.slice(`/accounts/${accountId}`.length) : undefined;
  const query = new URLSearchParams(url.split("?")[1]);
  if (own !== undefined) {
    const [, head = "", ...parts] = own.split("/");
    const of = { d1: database, r2: bucket, queues: queue, workers: worker }[head];
    return of?.(account, { ...asked, parts, query });
  }
  if (method !== "GET") return undefined;
  const fixed: Record<string, unknown> = {
    "/user": user,
    "/user/tokens/verify": { id: "token", status: "active" },
    "/accounts": accounts,
    "/memberships": accounts.map((each) => ({ id: each.id, account: each, roles: ["Administrator"] })),
    "/zones": [{ id: "zone", name: "example.com", account: accounts[0] }],
  };
  return path in fixed
    ? { ...ok(fixed[path]), result_info: { page: 1, per_page: 50, total_pages: 1, count: 1 } }
    : undefined;
}

/** A token that may only use queues, and one that does not exist. */
function answerToQueueToken(account: Account, token: string | undefined, asked: Asked): Answer {
  const isQueues = asked.path.startsWith(`/accounts/${accountId}/queues/`);
  if (token === queueToken && isQueues)
    return answerOf(account, asked, asked.path) ?? refused(404, 10104, "Queue not found");
  return token === queueToken
    ? refused(403, 10000, "Authentication error")
    : refused(401, 9109, "Invalid access token");
}

type Call = Asked & { parts: string[]; query: URLSearchParams };
const field = (body: unknown, name: string): string => {
  const value = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === "string" ? value : "";
};

function database({ databases }: Account, { method, parts, body, query }: Call): Answer | undefined {
  const [, id, action] = parts;
  const shown = (name: string) => ({ uuid: databases.get(name)?.uuid, name, version: "production" });
  if (id === undefined && method === "GET") {
    return ok([...databases.keys()].filter((name) => name.includes(query.get("name") ?? "")).map(shown));
  }
  if (id === undefined && method === "POST") {
    const name = field(body, "name");
    if (databases.has(name)) return refused(400, 7502, `database with name '${name}' already exists`);
    databases.set(name, { uuid: randomUUID(), sql: new DatabaseSync(":memory:") });
    return ok(shown(name));
  }
  const [name, found] = [...databases].find(([each, { uuid }]) => uuid === id || each === id) ?? [];
  if (name === undefined || !found) return refused(404, 7404, `The database ${id} could not be found`);
  if (action === undefined) return ok(shown(name));
  if (action === "query") return sqlAnswer(found.sql, field(body, "sql"));
  return undefined;
}

function sqlAnswer(sql: DatabaseSync, text: string): Answer {
  try {
    if (!/^\s*SELECT/i.test(text)) sql.exec(`BEGIN; ${text}; COMMIT`);
    const results = /^\s*SELECT/i.test(text) ? sql.prepare(text).all() : [];
    return ok([{ results, success: true, meta: { duration: 0.1, changes: 0, rows_read: 0, rows_written: 0 } }]);
  } catch (error) {
    if (sql.isTransaction) sql.exec("ROLLBACK");
    return refused(400, 7500, `${error instanceof Error ? error.message : String(error)}: SQLITE_ERROR`);
  }
}

function bucket({ buckets }: Account, { method, parts, body }: Call): Answer | undefined {
  const name = parts[1] ?? field(body, "name");
  if (method === "GET" && parts[1] !== undefined) {
    return buckets.has(name) ? ok({ name }) : refused(404, 10006, "The specified bucket does not exist.");
  }
  if (method !== "POST") return undefined;
  if (buckets.has(name)) return refused(409, 10004, "The bucket you tried to create already exists, and you own it.");
  buckets.add(name);
  return ok({ name, location: "WEUR" });
}

const shownQueue = ([name, { id, consumers }]: [string, Queue]) => ({
  queue_id: id,
  queue_name: name,
  consumers,
  producers: [],
  consumers_total_count: consumers.length,
});

function queue({ queues }: Account, { method, parts, body, query }: Call): Answer | undefined {
  const [id, kind, consumerId] = parts;
  if (id === undefined && method === "GET") {
    return ok([...queues].filter(([name]) => name === (query.get("name") ?? name)).map(shownQueue));
  }
  if (id === undefined && method === "POST") {
    const name = field(body, "queue_name");
    if (queues.has(name))
      return refused(409, 11009, `Queue name '${name}' is already taken. Please use a different name.`);
    const made = { id: createHash("md5").update(name).digest("hex"), consumers: [] };
    queues.set(name, made);
    return ok(shownQueue([name, made]), 201);
  }
  const [name, found] = [...queues].find(([, each]) => each.id === id) ?? [];
  if (!found || name === undefined) return refused(404, 11000, "Queue not found");
  if (kind === undefined) return ok(shownQueue([name, found]));
  if (kind !== "consumers") return undefined;
  if (method === "GET") return ok(found.consumers);
  if (method === "PUT") return ok(found.consumers.find((each) => each.consumer_id === consumerId));
  if (method !== "POST") return undefined;
  return addConsumer(found, body);
}

function addConsumer(found: Queue, body: unknown): Answer {
  if (found.consumers.length > 0) return refused(409, 11004, "workers.api.error.consumer_exists");
  const { script_name: script, settings } = Object(body) as { script_name?: string; settings?: unknown };
  const made = { consumer_id: randomUUID(), type: field(body, "type"), ...(script && { script }), settings };
  found.consumers.push(made);
  return ok(made);
}

function worker(account: Account, call: Call): Answer | undefined {
  const [kind, name = "", action, id] = call.parts;
  const { method, body } = call;
  const found = account.workers.get(name);
  if (kind === "services") {
    return found
      ? ok({
          id: name,
          default_environment: {
            environment: "production",
            script: { tag: "t", tags: [], last_deployed_from: "wrangler" },
          },
        })
      : noWorker;
  }
  if (kind === "scripts" && action === "assets-upload-session") return ok({ jwt: "assets", buckets: [] }, 201);
  if (kind === "domains") return ok([]);
  if (kind === "scripts" && method === "PUT" && (action === undefined || action === "content"))
    return upload(account, name, body);
  if (kind === "scripts" && action === "versions" && method === "POST") return upload(account, name, body);
  if (!found) return noWorker;
  if (kind === "workers") return ok({ id: name, name, subdomain: { enabled: false, previews_enabled: false } });
  if (action === "secrets") return ok(Object.keys(found.secrets).map((each) => ({ name: each, type: "secret_text" })));
  if (action === "versions") return ok({ id, annotations: { "workers/tag": found.tag } });
  if (action === "deployments") {
    if (method === "POST") return ok({ id: randomUUID() });
    return ok({ deployments: [{ id: randomUUID(), versions: [{ version_id: found.versionId, percentage: 100 }] }] });
  }
  if (action === "schedules") return ((account.schedules = body as unknown[]), ok({ schedules: body }));
  if (action === "subdomain") return ok({ enabled: false, previews_enabled: false });
  if (action === "script-settings") return ok({});
  if (action === "domains" && method === "PUT") {
    for (const { hostname } of (body as { origins: { hostname: string }[] }).origins) account.domains.add(hostname);
    return ok([]);
  }
  return action === "domains" ? ok({ added: [], removed: [], updated: [], conflicting: [] }) : undefined;
}

const noWorker = refused(404, 10007, "This Worker does not exist on your account.");

type Metadata = {
  bindings: { name: string; type: string; text?: string }[];
  annotations?: Record<string, string>;
  migrations?: { new_tag: string };
};

function upload({ workers, queues }: Account, name: string, body: unknown): Answer {
  const { bindings, annotations = {}, migrations } = body as Metadata;
  const before = workers.get(name);
  const unknown = bindings.filter(
    (each) => each.type === "queue" && !queues.has(String(Reflect.get(each, "queue_name"))),
  );
  if (unknown.length > 0)
    return refused(400, 11000, `Queue "${String(Reflect.get(unknown[0] ?? {}, "queue_name"))}" does not exist.`);
  const put = bindings
    .filter((each) => each.type === "secret_text")
    .map((each) => [each.name, each.text ?? ""] as const);
  const made = {
    secrets: { ...before?.secrets, ...Object.fromEntries(put) },
    tag: annotations["workers/tag"] ?? "",
    versionId: randomUUID(),
    bindings: bindings.filter((each) => each.type !== "secret_text"),
    migrationTag: migrations?.new_tag ?? before?.migrationTag ?? "",
  };
  workers.set(name, made);
  return ok({
    id: made.versionId,
    deployment_id: made.versionId,
    startup_time_ms: 100,
    tag: "t",
    has_preview: false,
    metadata: {},
  });
}

/** JSON, or the metadata of a Worker's upload. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = await new Response(Buffer.concat(chunks), { headers: { "content-type": type } }).formData();
    const metadata = form.get("metadata");
    return typeof metadata === "string" ? JSON.parse(metadata) : {};
  }
  return await json(request).catch(() => undefined);
}

function send(response: ServerResponse, status: number, content: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
}
