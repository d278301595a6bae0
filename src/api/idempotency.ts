import { Buffer } from "node:buffer";
import type { Context } from "hono";
import { claimKey, holdKey, type Answer, type Outcome } from "#domain/accounts/idempotency";
import { Refusal } from "#domain/refusal";
import { startOfBody } from "#http/body-start";
import { boundaryOf } from "#http/multipart";
import { shown } from "#api/errors";
import { factory, type ApiEnv } from "#api/factory";
import { runToCompletion } from "#http/run-to-completion";

const maxComparedBytes = 256 * 1024;
const maxStoredBytes = 256 * 1024;

/**
 * A POST, or a PUT with If-Match, that has an Idempotency-Key is done once. If the request is repeated within a day, it
 * gets the same answer (docs/api/README.md). If the connection breaks, the work continues, because the client will send
 * the request again.
 */
export const idempotent = factory.createMiddleware(async (c, next) => {
  const key = keyOf(c);
  if (key === undefined) return await next();
  const store = { db: c.var.db, env: c.env };
  const request = { accountId: c.var.account.id, key, requestSha256: await fingerprint(c) };
  const claimed = await claimKey(store, request);
  if ("answer" in claimed) return replay(claimed.answer);
  c.set("requestId", claimed.holder.requestId);
  const thrown: unknown[] = [];
  const work = holdKey(store, claimed.holder, async () => {
    try {
      await next();
      return await outcomeOf(c.res);
    } catch (error) {
      thrown.push(error);
      return without(shown(error).status);
    }
  });
  await runToCompletion(c, work);
  for (const error of thrown) throw error;
  return undefined;
});

/**
 * A PUT can be repeated without a key. But with If-Match the repeat would fail, because the first request has changed
 * the state.
 */
const mayHaveKey = ({ req }: Context): boolean =>
  req.method === "POST" || (req.method === "PUT" && req.header("if-match") !== undefined);

function keyOf(c: Context): string | undefined {
  const key = mayHaveKey(c) ? c.req.header("idempotency-key")?.trim() : undefined;
  if (key === undefined || key === "") return undefined;
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new Refusal("invalid_value", {
    message: "An Idempotency-Key can have at most 255 characters, all of them ASCII.",
  });
}

/** SHA-256 of everything that distinguishes requests. The body of the request can still be read afterwards. */
async function fingerprint(c: Context<ApiEnv>): Promise<string> {
  const { pathname, search } = new URL(c.req.url);
  const parts = [c.req.method, pathname, search, ...(await bodyMarks(c))];
  return await sha256(Buffer.from(JSON.stringify(parts)));
}

/**
 * For a large body, only the length is compared, because the body is a stream, which must not be read before the
 * comparison.
 */
async function bodyMarks(c: Context<ApiEnv>): Promise<string[]> {
  const type = c.req.header("content-type") ?? "";
  const kind = type.replace(/;.*/s, "").trim().toLowerCase();
  const announced = c.req.header("content-length");
  if (Number(announced ?? 0) > maxComparedBytes) return [kind, `${announced} bytes`];
  const { start, isWhole, request } = await startOfBody(c.req.raw, maxComparedBytes);
  c.req.raw = request;
  return [kind, isWhole ? "whole" : "start", await sha256(withoutBoundary(start, type))];
}

/** Removes the boundary, because a form that is sent again has a new one each time. */
function withoutBoundary(body: Uint8Array<ArrayBuffer>, contentType: string): Uint8Array<ArrayBuffer> {
  const boundary = knownBoundary(contentType);
  if (boundary === undefined) return body;
  const text = Buffer.from(body).toString("latin1");
  return Uint8Array.from(Buffer.from(text.replaceAll(Buffer.from(boundary).toString("latin1"), ""), "latin1"));
}

function knownBoundary(contentType: string): string | undefined {
  try {
    return boundaryOf(contentType);
  } catch {
    return undefined; // the call itself refuses it
  }
}

const sha256 = async (bytes: Uint8Array) => Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");

async function outcomeOf(answer: Response): Promise<Outcome> {
  if (!answer.ok) return without(answer.status);
  const text = await answer.clone().text();
  // An answer with no-store contains a secret that is shown only once.
  const isStored = Buffer.byteLength(text) <= maxStoredBytes && answer.headers.get("cache-control") !== "no-store";
  const body = isStored ? text : null;
  return { status: answer.status, contentType: answer.headers.get("content-type") ?? "", body };
}

/** The outcome of a request that was not carried out. */
const without = (status: number): Outcome => (status >= 500 ? "failed" : "refused");

function replay({ status, contentType, body }: Answer): Response {
  if (body === null) {
    const message =
      "This request already succeeded. Its answer was not stored: it was too large, it contained a secret, or your account had too many answers.";
    throw new Refusal("unknown_error", { reason: "repeated", message });
  }
  const headers = { "Content-Type": contentType, "Content-Length": String(Buffer.byteLength(body)), Vary: "Accept" };
  return new Response(body === "" ? null : body, { status, headers: { ...headers, "Idempotency-Replayed": "true" } });
}
