import type { z } from "zod";
import type { Needed } from "#domain/accounts/access";
import type { Rated } from "#domain/accounts/default-rates";
import type { Reason, RefusalCode } from "#domain/refusal";
import type { Document } from "#lib/wire/shape";

export type Version = "v1" | "v2";
export const both: readonly Version[] = ["v1", "v2"];
export const v2: readonly Version[] = ["v2"];

/**
 * The objects that a call can name. `own`: the account's own, and repositories that everyone sees. `readable`: also
 * templates and whatever is shared with the account. `public`: whatever every account may see, such as the gallery.
 */
type Access = "own" | "readable" | "public";

/** One call, as the OpenAPI description and the reference page show it. */
export interface Operation {
  /** Unique among all calls; the anchor on the reference page. */
  name: string;
  access: Access;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below /api/<version>/user, with its ids in braces: `/builds/{build_id}`. */
  path: string;
  versions: readonly Version[];
  /** The scope that a token needs, if it does not follow from the method. */
  scope?: Needed;
  /**
   * Open to a token for one appliance although the call names none, because it shows nothing of other appliances, or
   * leaves it out.
   */
  isForAll?: true;
  /**
   * The rate limit that the call counts towards, per account and ten minutes. Each call counts, whatever its answer is.
   */
  rate?: Rated;
  summary: string;
  details?: string;
  /** The schema of the parameters, which come from the query, a form or multipart fields. */
  params?: z.ZodObject;
  /** The meanings of parameters that differ from `parameter-meanings.ts`. */
  about?: Readonly<Record<string, string>>;
  body?: Body;
  answer: Answer;
  /** Request headers that only this call has. */
  headers?: Readonly<Record<string, HeaderMeaning>>;
  /** The answer has an ETag, and the call supports If-None-Match or If-Match. */
  hasEtag?: true;
  /** Codes for a path that names nothing, such as an unknown id: 404 on v2, 400 on v1. */
  unknown?: readonly RefusalCode[];
  /** Codes in addition to those of its ids and those of every call. */
  refuses?: readonly RefusalCode[];
  /** Further reasons, each with its status, for which the call returns `unknown_error`. */
  reasons?: readonly Reason[];
  /** The call exists only for an old client. */
  deprecated?: true;
}

interface HeaderMeaning {
  meaning: string;
  isRequired?: true;
}

/** The status of a call that succeeds. */
export const statusOf = ({ answer }: Operation): 200 | 201 | 204 => {
  if (answer.kind === "nothing") return 204;
  return answer.kind === "document" && answer.isCreated ? 201 : 200;
};

/**
 * The scope that a token needs for a call: `read` to read, `build` to change something, unless the call sets another.
 */
export const scopeOf = ({ scope, method }: Operation): Needed => scope ?? (method === "GET" ? "read" : "build");

/** `file`: a form with the field `file`, or the file itself. */
export type Body =
  | { kind: "document"; document: Document }
  | { kind: "file"; what: string; mayBeAbsent?: true }
  | { kind: "bytes"; what: string; type: string }
  | { kind: "text"; what: string };

/**
 * `asText`: the document is also available as plain text, for `Accept: text/plain`. `isCreated`: the status is 201.
 * `nothing`: the answer has only headers.
 */
export type Answer =
  | { kind: "document"; document: Document; asText?: true; isCreated?: true }
  | { kind: "nothing"; what: string }
  | { kind: "file"; types: readonly string[]; what: string };

export interface Group {
  title: string;
  about: string;
  operations: readonly Operation[];
}
