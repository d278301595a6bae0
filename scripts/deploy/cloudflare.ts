import { z } from "zod";
import { Complaint } from "../launch/complaint.ts";

const timeoutMs = 30_000;
const Failure = z.object({ errors: z.array(z.object({ code: z.number().optional(), message: z.string() })) });
const Database = z.object({ uuid: z.string(), name: z.string() });
const Queue = z.object({ queue_id: z.string(), queue_name: z.string() });
const Consumer = z.looseObject({ type: z.string().optional() });
const Names = z.object({ name: z.string() });
const Deployments = z.object({
  deployments: z.array(z.object({ versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })) })),
});
const Version = z.looseObject({ annotations: z.record(z.string(), z.unknown()).optional() });
const Rows = z.array(z.looseObject({ results: z.array(z.record(z.string(), z.unknown())) }));

/** An error answer of Cloudflare. */
class ApiRefusal extends Complaint {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const worker = (name: string) => `/workers/scripts/${encodeURIComponent(name)}`;

export type Cloudflare = ReturnType<typeof cloudflareApi>;

/** Calls that read an account and change nothing. wrangler has no machine-readable output for them. */
export function cloudflareApi(accountId: string, headers: Record<string, string>, env: NodeJS.ProcessEnv) {
  const base = env["CLOUDFLARE_API_BASE_URL"] || "https://api.cloudflare.com/client/v4";
  const ask = <T>(path: string, Result: z.ZodType<T>, init: RequestInit = {}) =>
    request(`${base}/accounts/${accountId}${path}`, Result, { ...init, headers: { ...headers, ...init.headers } });
  return {
    database: async (name: string) =>
      (await ask(`/d1/database?name=${encodeURIComponent(name)}`, z.array(Database))).find(
        (each) => each.name === name,
      ),
    /** The names of the migrations that a database has. An empty database has none. */
    async migrations(databaseId: string): Promise<string[]> {
      const sql = "SELECT name FROM d1_migrations ORDER BY id";
      const init = { method: "POST", body: JSON.stringify({ sql }), headers: { "content-type": "application/json" } };
      const rows = await orMissing(ask(`/d1/database/${databaseId}/query`, Rows, init), /no such table/);
      return rows?.[0]?.results.map(({ name }) => String(name)) ?? [];
    },
    bucketExists: async (name: string) =>
      (await orMissing(ask(`/r2/buckets/${encodeURIComponent(name)}`, z.unknown()))) !== undefined,
    queue: async (name: string) =>
      (await ask(`/queues?name=${encodeURIComponent(name)}`, z.array(Queue))).find((each) => each.queue_name === name),
    consumers: (queueId: string) => ask(`/queues/${queueId}/consumers`, z.array(Consumer)),
    /** The names of a Worker's secrets. Undefined if there is no such Worker. */
    secrets: async (name: string) =>
      (await orMissing(ask(`${worker(name)}/secrets`, z.array(Names))))?.map((each) => each.name),
    /** The tag of the version that gets all requests. */
    async liveTag(name: string): Promise<string | undefined> {
      const found = await orMissing(ask(`${worker(name)}/deployments`, Deployments));
      const live = found?.deployments[0]?.versions.find(({ percentage }) => percentage === 100);
      if (!live) return undefined;
      const version = await orMissing(ask(`${worker(name)}/versions/${live.version_id}`, Version));
      const tag = version?.annotations?.["workers/tag"];
      return typeof tag === "string" ? tag : undefined;
    },
  };
}

/** Whether an API token gives access to a queue. */
export async function opensQueue(token: string, of: { accountId: string; queueId: string; env: NodeJS.ProcessEnv }) {
  const api = cloudflareApi(of.accountId, { authorization: `Bearer ${token}` }, of.env);
  try {
    await api.consumers(of.queueId);
    return true;
  } catch (error) {
    if (error instanceof ApiRefusal) return false;
    throw error;
  }
}

/** The answer, or undefined if Cloudflare reports that the object does not exist. */
async function orMissing<T>(answer: Promise<T>, text?: RegExp): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiRefusal && (error.status === 404 || text?.test(error.message))) return undefined;
    throw error;
  }
}

async function request<T>(url: string, Result: z.ZodType<T>, init: RequestInit): Promise<T> {
  const path = new URL(url).pathname;
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }).catch((error: unknown) => {
    const why = error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : "";
    throw new Complaint(`No answer from Cloudflare (${path}): ${why}. Start npm run deploy again; it continues.`);
  });
  const body: unknown = await response.json().catch(() => undefined);
  const answer = z.object({ result: Result }).safeParse(body);
  if (response.ok && answer.success) return answer.data.result;
  const [first] = Failure.safeParse(body).data?.errors ?? [];
  const said = first ? `${first.message} [code: ${first.code ?? "none"}]` : `status ${response.status}`;
  throw new ApiRefusal(`Cloudflare refused ${path}: ${said}`, response.status);
}
