import type { RefusalCode } from "#domain/refusal";
import type { Sample } from "./sample.ts";

/** The body of a request, in addition to its query. XML may have ids of the sample in braces, as paths do. */
export type Sent =
  | { xml: string }
  | { file: string | Uint8Array<ArrayBuffer>; name?: string }
  | { text: string }
  | { bytes: string; headers: Record<string, string> };

/** One call of the API: a request that succeeds, and requests that are refused. */
export interface Row {
  /** As in the table of operations: `GET /builds/{build_id}`. */
  call: string;
  /** Below /api/<version>/user; names in braces are ids of the sample: `/builds/{build}`. */
  path: string;
  sent?: Sent;
  /** Root element of the answer, or its content type. Empty if it has no body. */
  answer: string;
  /** Default: 200. */
  status?: number;
  /** The error for another account's id anywhere; for ids in the path, also for an unknown one. */
  foreign?: RefusalCode;
  /** The error for an unknown last id in the path, if it differs. */
  unknownId?: RefusalCode;
  refused?: readonly Refused[];
  /** Recreates, for each request, whatever a success uses up. */
  fresh?: (sample: Sample) => Promise<Sample>;
  /** Another party's action while the request waits, without which it does not succeed. */
  meanwhile?: (sample: Sample) => Promise<unknown>;
}

/** A request that is refused, and the expected error. */
export interface Refused {
  path: string;
  sent?: Sent;
  code: RefusalCode;
  /** Default: 400. For an unknown id in the path, set "unknown". */
  status?: number | "unknown";
}

/** A wrong parameter: the most common row of `refused`. */
export const refused = (path: string, code: RefusalCode, more: Pick<Refused, "sent" | "status"> = {}): Refused => ({
  path,
  code,
  ...more,
});
