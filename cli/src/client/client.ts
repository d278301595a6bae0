import { randomUUID } from "node:crypto";
import manifest from "../../package.json" with { type: "json" };
import { routes, type Calls } from "./calls.ts";
import { Complaint } from "../complaint.ts";
import { ServiceRefusal, unreachable } from "./failure.ts";
import { send } from "./send.ts";

export type CallName = keyof Calls;
export type RequestOf<N extends CallName> = Calls[N]["request"];
/** A request in which `undefined` counts as absent. */
type Given<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };
export type AnswerOf<N extends CallName> = Calls[N]["answer"];

/** A service and an account, with its API key or a token. */
export interface Credentials {
  url: string;
  account: string;
  secret: string;
}

interface Extra {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Gets the headers of the answer. */
  onHeaders?: (headers: Headers) => void;
}

/** The calls of the service, by their names. */
export interface Client {
  readonly url: string;
  call<N extends CallName>(name: N, request: Given<RequestOf<N>>, extra?: Extra): Promise<AnswerOf<N>>;
}

interface Route {
  method: string;
  path: string;
  body?: string;
  answer: "document" | "file" | "nothing";
}

const userAgent = `kiln/${manifest.version} (command line)`;

export function openClient({ url, account, secret }: Credentials): Client {
  const authorization = `Basic ${Buffer.from(`${account}:${secret}`).toString("base64")}`;
  return {
    url,
    call: async <N extends CallName>(
      name: N,
      request: Given<RequestOf<N>>,
      { headers, signal, onHeaders }: Extra = {},
    ) => {
      const route: Route = routes[name];
      const { path, init } = requestOf(route, request);
      const answer = await send(`${url}/api/v2/user${path}`, {
        ...init,
        ...(signal && { signal }),
        headers: { accept: "application/json", "user-agent": userAgent, ...init.headers, ...headers, authorization },
      });
      if (!answer.ok) throw await refusalOf(answer, `${route.method} ${route.path}`);
      onHeaders?.(answer.headers);
      // The type comes from the call's description.
      return (route.answer === "document" ? await documentOf(answer) : answer) as AnswerOf<N>;
    },
  };
}

interface Init {
  method: string;
  headers: Record<string, string>;
  body?: string | FormData | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

/** Builds the request. Parameters go into the query if the call is a GET or has another body. */
function requestOf({ method, path, body: type }: Route, request: object): { path: string; init: Init } {
  const rest = new Map(Object.entries(request).filter(([, value]) => value !== undefined));
  const body = take(rest, "body");
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(take(rest, name))));
  const parameters = new URLSearchParams(
    [...rest].flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)])),
  );
  const init: Init = { method, headers: method === "POST" ? { "idempotency-key": randomUUID() } : {} };
  if (type === undefined && method !== "GET") return { path: filled, init: withForm(init, parameters) };
  const query = parameters.size > 0 ? `${filled}?${parameters}` : filled;
  return { path: query, init: body === undefined || type === undefined ? init : withBody(init, type, body) };
}

function withForm(init: Init, parameters: URLSearchParams): Init {
  if (parameters.size === 0) return init;
  const headers = { ...init.headers, "content-type": "application/x-www-form-urlencoded" };
  return { ...init, headers, body: parameters.toString() };
}

function withBody(init: Init, type: string, body: unknown): Init {
  if (body instanceof File) {
    const form = new FormData();
    form.set("file", body);
    return { ...init, body: form };
  }
  const headers = { ...init.headers, "content-type": type };
  if (body instanceof Uint8Array) return { ...init, headers, body: new Uint8Array(body) };
  return { ...init, headers, body: typeof body === "string" ? body : JSON.stringify(body) };
}

function take(values: Map<string, unknown>, name: string): unknown {
  const value = values.get(name);
  values.delete(name);
  return value;
}

async function documentOf(answer: Response): Promise<unknown> {
  const { origin } = new URL(answer.url);
  const text = await answer.text().catch((error: unknown) => {
    throw unreachable(origin, error);
  });
  try {
    return JSON.parse(text);
  } catch {
    throw new Complaint("unreachable", `The server at ${origin} is not a Kiln service.`, "Check the address.");
  }
}

async function refusalOf(answer: Response, call: string): Promise<ServiceRefusal> {
  const error = errorIn(await answer.text()) ?? { code: "unknown_error", message: statusOf(answer) };
  return new ServiceRefusal({ ...error, status: answer.status, call });
}

const statusOf = ({ status, statusText }: Response): string => `The service answered ${status} ${statusText}`.trim();

function errorIn(text: string): { code: string; message: string } | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    return error && { code: String(error.code), message: String(error.message) };
  } catch {
    return undefined; // A proxy answered, not the service.
  }
}
