import { visit, type Client } from "../../support/client.ts";
import type { Sent } from "./row.ts";
import type { Sample } from "./sample.ts";

interface Request {
  method: string;
  /** Below /api/<version>/user. */
  path: string;
  body?: Sent | undefined;
  version?: "v1" | "v2";
  credentials?: Pick<Client, "username" | "apiKey"> | undefined;
  accept?: string;
  /** Its Idempotency-Key. */
  key?: string;
}

/** Sends one request of the table, as a client would. */
export function sent({ method, path, body, version = "v2", credentials, accept, key }: Request): Promise<Response> {
  const headers = new Headers(body ? typeOf(body) : {});
  if (credentials) headers.set("authorization", `Basic ${btoa(`${credentials.username}:${credentials.apiKey}`)}`);
  if (accept !== undefined) headers.set("accept", accept);
  if (key !== undefined) headers.set("idempotency-key", key);
  const content = body && contentOf(body);
  return visit(`/api/${version}/user${path}`, { method, headers, ...(content === undefined ? {} : { body: content }) });
}

/** A path or a document with the sample's ids filled in. */
export function filled(path: string, ids: Sample["ids"]): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (ids[name] === undefined) throw new Error(`the sample has no ${name}`);
    return String(ids[name]);
  });
}

export const filledBody = (body: Sent | undefined, ids: Sample["ids"]): Sent | undefined =>
  body && "xml" in body ? { xml: filled(body.xml, ids) } : body;

function typeOf(body: Sent): Record<string, string> {
  if ("xml" in body) return { "content-type": "application/xml" };
  if ("bytes" in body) return body.headers;
  return "text" in body ? { "content-type": "application/x-www-form-urlencoded" } : {};
}

function contentOf(body: Sent): BodyInit {
  if ("xml" in body) return body.xml;
  if ("text" in body) return body.text;
  if ("bytes" in body) return body.bytes;
  const form = new FormData();
  form.set("file", new Blob([body.file]), body.name ?? "upload");
  return form;
}
