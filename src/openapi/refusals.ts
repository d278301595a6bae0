import { shown } from "#api/errors";
import { v1 as apiV1, v2 as apiV2 } from "#api/versions";
import { Refusal, type RefusalCode } from "#domain/refusal";
import type { Operation, Version } from "#openapi/operation";

/** What a call can answer instead. */
export interface PossibleRefusal {
  status: number;
  code: RefusalCode;
  message: string;
}

const apiVersions = { v1: apiV1, v2: apiV2 };

/** Every code of one call with its status and usual sentence, in the order in which they are checked. */
export function possibleRefusals(operation: Operation, version: Version): PossibleRefusal[] {
  const told = (code: RefusalCode, place: Refusal["in"] = "parameter") => toldOf(version, code, place);
  const unauthorized = {
    ...told("access_denied"),
    status: 401,
    message: "Sign in with your account name and API key.",
  };
  const changes = operation.method !== "GET";
  const possible = [
    unauthorized,
    told("unknown_error", "rate"),
    told("access_denied"), // a token that may not do this
    ...(changes ? [told("read_only_mode_active")] : []),
    ...(operation.unknown ?? []).map((code) => told(code, "path")),
    ...(operation.refusals ?? []).map((code) => told(code)),
    ...headerRefusals(operation).map((place) => told("unknown_error", place)),
    told("internal_error"),
  ];
  return [...new Map(possible.map((one) => [`${one.status} ${one.code}`, one])).values()];
}

/** What the headers of `parameters.ts` can bring. */
function headerRefusals({ method, hasEtag }: Operation): Refusal["in"][] {
  if (method === "POST") return ["key_at_work", "key_of_another"];
  return hasEtag && method !== "GET" ? ["precondition"] : [];
}

const known = new Map<string, PossibleRefusal>();

/** Kept, because an error takes its stack along, and there are thousands to ask about. */
function toldOf(version: Version, code: RefusalCode, place: Refusal["in"]): PossibleRefusal {
  const key = `${version} ${code} ${place}`;
  const told = known.get(key) ?? shown(new Refusal(code, { in: place }), apiVersions[version]);
  known.set(key, told);
  return told;
}
