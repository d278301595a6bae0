import type { ContentfulStatusCode } from "hono/utils/http-status";
import { diskIsFull, isOfFullDisk } from "#domain/full-disk";
import { Refusal, type Reason, type RefusalCode } from "#domain/refusal";
import { BodyFault } from "#http/request-body";
import { WireFault } from "#lib/wire/fault";
import type { ApiVersion } from "#api/versions";

/**
 * The part of an error that a client sees. Anything that is not a Refusal is a bug in the service, and is shown without
 * details.
 */
export interface ShownError {
  status: ContentfulStatusCode;
  code: RefusalCode;
  message: string;
  /** Headers of the answer. */
  headers: Record<string, string>;
}

export function shown(error: unknown, version?: ApiVersion): ShownError {
  if (error instanceof WireFault) return shown(new Refusal(error.code, { message: error.message }), version);
  if (error instanceof BodyFault) {
    return { status: error.status, code: "unknown_error", message: error.message, headers: {} };
  }
  if (isOfFullDisk(error)) return shown(diskIsFull(), version);
  if (!(error instanceof Refusal)) return shown(new Refusal("internal_error"), version);
  const { code, message, retryAfterSeconds: seconds } = error;
  const headers = seconds === undefined ? {} : { "Retry-After": String(seconds) };
  return { status: statusOf(error, version), code, message, headers };
}

/**
 * The status of a refusal (compatibility.md, "Status codes"). A reason that the original did not have gets its own
 * status, but not its own code.
 */
function statusOf({ code, reason }: Refusal, version?: ApiVersion): ContentfulStatusCode {
  if (reason === "unknown" && version?.unknownIdStatus !== 400) return 404;
  return statusOfReason[reason] ?? statusOfCode[code] ?? 400;
}

const statusOfReason: Partial<Record<Reason, ContentfulStatusCode>> = {
  repeated: 409,
  changed: 412,
  key_taken: 422,
  too_fast: 429,
  busy: 423,
  wrong_offset: 409,
  too_large: 413,
  wrong_type: 415,
  wrong_protocol: 412,
};

const statusOfCode: Partial<Record<RefusalCode, ContentfulStatusCode>> = {
  access_denied: 403,
  internal_error: 500,
};
