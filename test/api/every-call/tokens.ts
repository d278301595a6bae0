import { signedIn } from "../../support/client.ts";
import { tokenOf } from "../../support/tokens.ts";
import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const fresh = async ({ ids }: Sample): Promise<Sample> => {
  const tux = await signedIn();
  return { tux, ids: { ...ids, token: (await tokenOf(tux)).id } };
};
const post = "/tokens?name=nightly&scope=build";

export const tokens: readonly Row[] = [
  { call: "GET /tokens", path: "/tokens", answer: "tokens" },
  {
    call: "POST /tokens",
    path: `${post}&appliance_id={appliance}&expires_at=2099-01-01T00:00:00Z`,
    answer: "token",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/tokens?scope=read", "missing_parameter"),
      refused("/tokens?name=nightly", "missing_parameter"),
      refused("/tokens?name=nightly&scope=everything", "invalid_value"),
      refused("/tokens?name=a%0Ab&scope=read", "invalid_value"),
      refused(`${post}&appliance_id=x`, "invalid_appliance_id"),
      refused(`${post}&appliance_id=1`, "invalid_appliance_id"),
      refused(`${post}&expires_at=tomorrow`, "invalid_value"),
      refused(`${post}&expires_at=2020-01-01T00:00:00Z`, "invalid_value"),
    ],
  },
  {
    call: "DELETE /tokens/{token_id}",
    path: "/tokens/{token}",
    answer: "success",
    foreign: "unknown_error",
    fresh,
  },
];
