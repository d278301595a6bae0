import type { z } from "zod";
import type { Needed } from "#domain/accounts/access";
import type { Rated } from "#domain/accounts/rates";
import type { Reason, RefusalCode } from "#domain/refusal";
import type { Document } from "#lib/wire/shape";

export type Version = "v1" | "v2";
export const both: readonly Version[] = ["v1", "v2"];
export const v2: readonly Version[] = ["v2"];

/**
 * Whose things a call can name: those of the account, and repositories that everyone has; also those that it may read, which
 * are templates and what is shared with it; or what every account may see, such as the gallery.
 */
type Access = "own" | "readable" | "public";

/** One call, as the description and the page show it. */
export interface Operation {
  /** Unlike that of every other call; the anchor of the page. */
  name: string;
  access: Access;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below /api/<version>/user, with its ids in braces: `/builds/{build_id}`. */
  path: string;
  versions: readonly Version[];
  /** What it needs of a token, if that is not what its method says. */
  scope?: Needed;
  /** Names no appliance, and is still open to a token for one: it shows nothing of others, or leaves it out. */
  isForAll?: true;
  /** What an account can do only so often in ten minutes. Each call counts, whatever its answer is. */
  rate?: Rated;
  summary: string;
  details?: string;
  /** What the door reads its parameters by: from the query, a form or multipart fields. */
  params?: z.ZodObject;
  /** What a parameter means here, where it is not what `parameter-meanings.ts` says. */
  about?: Readonly<Record<string, string>>;
  body?: Body;
  answer: Answer;
  /** Headers of the request that are about this call. */
  headers?: Readonly<Record<string, HeaderMeaning>>;
  /** Carries an ETag, and heeds If-None-Match or If-Match. */
  hasEtag?: true;
  /** Codes of an address at which there is nothing, such as that of an unknown id: 404 on v2, 400 on v1. */
  unknown?: readonly RefusalCode[];
  /** Codes in addition to those of its ids and those that every call knows. */
  refuses?: readonly RefusalCode[];
  /** Further statuses of `unknown_error`. */
  reasons?: readonly Reason[];
  /** Exists only for an old client. */
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

/** What a token needs for a call. To read needs `read`, to change something `build`, unless the call says otherwise. */
export const scopeOf = ({ scope, method }: Operation): Needed => scope ?? (method === "GET" ? "read" : "build");

/** `file`: a form with the field `file`, or the file itself; an optional file says so. */
export type Body =
  | { kind: "document"; document: Document }
  | { kind: "file"; what: string; mayBeAbsent?: true }
  | { kind: "bytes"; what: string; type: string }
  | { kind: "text"; what: string };

/** `asText`: also what the document says as plain text, for `Accept: text/plain`. `isCreated`: with status 201. `nothing`: only headers. */
export type Answer =
  | { kind: "document"; document: Document; asText?: true; isCreated?: true }
  | { kind: "nothing"; what: string }
  | { kind: "file"; types: readonly string[]; what: string };

export interface Group {
  title: string;
  about: string;
  operations: readonly Operation[];
}
