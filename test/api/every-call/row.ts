import type { RefusalCode } from "#domain/refusal";
import type { Sample } from "./sample.ts";

/** What is sent with a request, beside its query. XML may name ids of the sample in braces, as paths do. */
export type Sent = { xml: string } | { file: string | Uint8Array<ArrayBuffer>; name?: string } | { text: string };

/** One call of the API in the table: a request that succeeds, and those that do not. */
export interface Row {
  /** As the table of operations has it: `GET /builds/{build_id}`. */
  call: string;
  /** Below /api/<version>/user; names in braces are ids of the sample: `/builds/{build}`. */
  path: string;
  sent?: Sent;
  /** Root element of the answer, or its content type. */
  answer: string;
  /** What an id of another account earns, wherever it stands; for ids in the path also one that nobody has. */
  foreign?: RefusalCode;
  /** Where the last id in the path earns another. */
  nobodys?: RefusalCode;
  refused?: readonly Refused[];
  /** What a success uses up, made anew for each. */
  fresh?: (sample: Sample) => Promise<Sample>;
  /** What somebody else has to do for the success while the request waits. */
  meanwhile?: (sample: Sample) => Promise<unknown>;
}

/** A request that is refused, and how. */
export interface Refused {
  path: string;
  sent?: Sent;
  code: RefusalCode;
  /** 400 when left out; for an unknown id in the path say "unknown". */
  status?: number | "unknown";
}

/** A wrong parameter: the usual row of `refused`. */
export const refused = (path: string, code: RefusalCode, more: Pick<Refused, "sent" | "status"> = {}): Refused => ({
  path,
  code,
  ...more,
});
