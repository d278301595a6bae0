import { shown } from "#api/errors";
import { v1 as apiV1, v2 as apiV2 } from "#api/versions";
import { Refusal, type Reason, type RefusalCode } from "#domain/refusal";
import type { Operation, Version } from "#api/operation";

/** An error that a call can return. */
export interface PossibleRefusal {
  status: number;
  code: RefusalCode;
  message: string;
}

const apiVersions = { v1: apiV1, v2: apiV2 };

/** Every code of a call with its status and usual message, in the order of the checks. */
export function possibleRefusals(operation: Operation, version: Version): PossibleRefusal[] {
  const refusal = (code: RefusalCode, reason: Reason = "invalid") => possibleRefusal(version, code, reason);
  const unauthorized = {
    ...refusal("access_denied"),
    status: 401,
    message: "Sign in with your account name and API key.",
  };
  const changes = operation.method !== "GET";
  const possible = [
    unauthorized,
    refusal("unknown_error", "too_fast"),
    refusal("access_denied"), // the token may not make this call
    ...(changes ? [refusal("read_only_mode_active")] : []),
    ...(operation.unknown ?? []).map((code) => refusal(code, "unknown")),
    ...(operation.refuses ?? []).map((code) => refusal(code)),
    ...(operation.reasons ?? []).map((reason) => refusal("unknown_error", reason)),
    ...headerRefusals(operation).map((reason) => refusal("unknown_error", reason)),
    refusal("internal_error"),
  ];
  return [...new Map(possible.map((one) => [`${one.status} ${one.code}`, one])).values()];
}

/** The refusals that the headers of `parameters.ts` can cause. */
function headerRefusals({ method, hasEtag }: Operation): Reason[] {
  if (method === "POST") return ["repeated", "key_taken"];
  return hasEtag && method !== "GET" ? ["changed"] : [];
}

const known = new Map<string, PossibleRefusal>();

/** Cached, because each Refusal has a stack trace, and there are thousands to look up. */
function possibleRefusal(version: Version, code: RefusalCode, reason: Reason): PossibleRefusal {
  const key = `${version} ${code} ${reason}`;
  const refusal = known.get(key) ?? shown(new Refusal(code, { reason }), apiVersions[version]);
  known.set(key, refusal);
  return refusal;
}
