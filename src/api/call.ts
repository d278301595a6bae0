import type { Context } from "hono";
import type { z } from "zod";
import type { RefusalCode } from "#domain/refusal";
import { actorOf, audited, type Audited } from "#domain/accounts/audit";
import { clientAddress } from "#http/client-address";
import type { AuditDetail, AuditEvent } from "#model/audit-events";
import { both, type Body, type Group, type Operation, type Version } from "#api/operation";
import type { Database } from "#storage/db";
import type { Document, Typed } from "#lib/wire/shape";
import { viewOf } from "#lib/wire/view";
import { rest } from "#lib/loop/pace";
import { readDocumentBody, readRawText } from "#http/body-text";
import type { ApiEnv } from "#api/factory";
import { parseParams, pathId, readQuery, readRepeated } from "#http/params";
import { xml, xmlOrText } from "#http/respond";
import { preconditionOf, validated } from "#api/revalidation";

/**
 * One call of the API: its route, its description and its action. The routes, OpenAPI, the reference page and the table
 * test are generated from it.
 */
export interface Call extends Operation {
  handle(c: Context<ApiEnv>): Promise<Response>;
}

export interface CallGroup extends Group {
  operations: readonly Call[];
}

/** The account that makes the call, the version of the API, and the bindings that the answer needs. */
export type Caller = ApiEnv["Variables"] & { env: Env };

/** An answer that is a file. `act` creates the response itself. */
export type FileAnswer = Extract<Operation["answer"], { kind: "file" }> & Typed<Response, unknown>;

export const file = (what: string, ...types: readonly string[]): FileAnswer => ({ kind: "file", types, what });

/** An answer without a body. `act` creates the response itself. */
export type NoAnswer = Extract<Operation["answer"], { kind: "nothing" }> & Typed<Response, unknown>;

export const nothing = (what: string): NoAnswer => ({ kind: "nothing", what });

/** A body that is text, whatever its content type claims. */
type TextBody = Extract<Body, { kind: "text" }> & Typed<never, string>;

export const rawText = (what: string): TextBody => ({ kind: "text", what });

type Ids = Readonly<Record<string, RefusalCode>>;

/** The part of a call that is the same as in `Operation`. */
type Described = Omit<Operation, "method" | "path" | "versions" | "params" | "body" | "answer">;

interface Given<R extends string, A, I extends Ids, P extends z.ZodObject, B, F> extends Described {
  /** The versions that have the call; by default both. */
  versions?: readonly Version[];
  /** Ids in the path, each with the code for an id that is unknown or belongs to another account. */
  ids?: I;
  /**
   * Finds the object that the first id names, for `act`. It runs before the rest of the request is read, so that its
   * refusal comes first.
   */
  finds?: (caller: Caller, id: number) => F | Promise<F>;
  /**
   * Parameters from the query, a form or multipart fields, but only from the query if the body is a document or a text.
   */
  params?: P;
  /** Parameters that `act` reads itself: next to a file in the body, while they arrive, or also from a header. */
  besideFile?: z.ZodObject;
  /** The document in the body, or another kind of body that the call accepts. */
  takes?: (Document | TextBody | Extract<Body, { kind: "file" | "bytes" }>) & Typed<never, B>;
  answer: (Document | FileAnswer | NoAnswer) & Typed<A, unknown>;
  /** Whether the answer has status 201. */
  isCreated?: true;
  /** The result as plain text, for a client that requests it. */
  asText?: (result: A, caller: Caller) => string;
  /** Whether the answer contains a secret, so that no cache may store it. */
  isSecret?: true;
  /** The entry in the audit log. `act` writes it in the same batch as its own statements, see `entryOfAct`. */
  audit?: { event: AuditEvent; detail?: (request: RequestOf<R, I, P, B, F, A>) => AuditDetail };
  /** A Response is sent unchanged. */
  act: (
    caller: Caller,
    request: RequestOf<R, I, P, B, F, A>,
    c: Context<ApiEnv>,
  ) => A | Response | Promise<A | Response>;
}

/**
 * Ids in the path as numbers, other path parameters as text, the parameters, and the reader of the document in the
 * body.
 */
type RequestOf<R extends string, I, P extends z.ZodObject, B, F, A> = {
  [N in NamesIn<R>]: N extends keyof I ? number : string;
} & z.output<P> & { found: F; body: () => Promise<B>; all: AllValues; precondition: Precondition<A> };

/** Throws if the document's state does not match the client's If-Match. Undefined if the client sent no If-Match. */
type Precondition<A> = ((before: A) => void) | undefined;

/** Every value of a parameter that may be repeated: `path=/a&path=/b`, or `path[]` as many libraries write it. */
type AllValues = (name: string) => string[];

type NamesIn<R extends string> = R extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** Describes a call: `call("GET /builds/{build_id}", { … })`. Paths are below /api/<version>/user. */
export function call<
  const R extends `${Operation["method"]} /${string}`,
  A,
  const I extends Ids = Record<never, RefusalCode>,
  P extends z.ZodObject = z.ZodObject<Record<never, z.ZodType>>,
  B = undefined,
  F = undefined,
>(route: R, given: Given<R, A, I, P, B, F>): Call {
  const { ids, versions = both, params = given.besideFile, takes, answer, asText, isCreated } = given;
  const [method, path = ""] = route.split(" ");
  return {
    ...given,
    method: method as Operation["method"],
    path,
    versions,
    unknown: [...Object.values<RefusalCode>(ids ?? {}), ...(given.unknown ?? [])],
    ...(params && { params }),
    ...(takes && { body: "root" in takes ? { kind: "document", document: takes } : takes }),
    answer:
      "root" in answer
        ? { kind: "document", document: answer, ...(asText && { asText: true }), ...(isCreated && { isCreated }) }
        : answer,
    handle: async (c) => await answered(c, given),
  };
}

/** A copy of a call with another method, which one client sends. */
export function byMethod(method: Operation["method"], same: Call): Call {
  const by = method.charAt(0) + method.slice(1).toLowerCase();
  return { ...same, name: `${same.name}By${by}`, method, deprecated: true };
}

async function answered<R extends string, A, I extends Ids, P extends z.ZodObject, B, F>(
  c: Context<ApiEnv>,
  given: Given<R, A, I, P, B, F>,
): Promise<Response> {
  const { answer, hasEtag, asText, isSecret, isCreated, audit, act } = given;
  const caller: Caller = { ...c.var, env: c.env };
  const request = await requestOf(c, caller, given);
  const db = audit ? auditedCall(c, { event: audit.event, detail: audit.detail?.(request) }) : caller.db;
  const result = await act({ ...caller, db }, request, c);
  if (result instanceof Response) return result;
  if (isSecret) c.header("Cache-Control", "no-store");
  const document = answer as Document<A>;
  await rest();
  const view = viewOf(document, result, caller);
  await rest();
  if (asText) return xmlOrText(c, document.root, view, () => asText(result, caller));
  return hasEtag ? validated(c, document.root, view) : xml(c, document.root, view, isCreated ? 201 : 200);
}

function auditedCall(c: Context<ApiEnv>, what: Pick<Audited, "event" | "detail">): Database {
  const address = clientAddress(c.req.raw, c.env);
  return audited(c.var.db, { ...what, accountId: c.var.account.id, actor: actorOf(c.var.access), address });
}

async function requestOf<R extends string, A, I extends Ids, P extends z.ZodObject, B, F>(
  c: Context<ApiEnv>,
  caller: Caller,
  { ids, finds, params, takes, answer, hasEtag }: Given<R, A, I, P, B, F>,
): Promise<RequestOf<R, I, P, B, F, A>> {
  const named: Record<string, unknown> = { ...c.req.param() };
  let found: F | undefined;
  for (const [name, code] of Object.entries(ids ?? {})) {
    const id = pathId(c, name, code);
    found ??= await finds?.(caller, id);
    named[name] = id;
  }
  const { first, all } = params && !takes ? await readRepeated(c) : { first: params && readQuery(c), all: () => [] };
  const given = params && first && parseParams(params, first);
  // Read last: another account's appliance is reported as unknown, whatever the body contains.
  const body = async () => {
    if (takes && "root" in takes) return await readDocumentBody(takes, c.req.raw);
    return takes?.kind === "text" ? await readRawText(c.req.raw) : undefined;
  };
  const precondition = hasEtag && preconditionOf(c, answer as Document<A>);
  // The type parameters of the call define the request's fields.
  return { ...named, ...given, found, body, all, precondition } as unknown as RequestOf<R, I, P, B, F, A>;
}
