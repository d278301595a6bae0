import { command, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { moment, table } from "../output/table.ts";
import { applianceId, numberOf } from "../resolve.ts";

const scopes = ["read", "build", "publish"] as const;

export const tokens = [
  command("token list", {
    summary: "List your tokens, and when each was last used",
    details: "The commands of tokens need your API key: no token can use them.",
    act: async ({ client, show, paint }) => {
      const answer = await client.call("listTokens", {});
      const rows = answer.tokens.map((one) => [
        one.id,
        one.name,
        one.scope,
        one.appliance_id ?? "all",
        moment(one.expires_at) ?? "never",
        moment(one.last_used_at) ?? "never",
      ]);
      show(answer, () => table(paint, ["ID", "NAME", "SCOPE", "APPLIANCE", "EXPIRES", "USED"], rows));
    },
  }),
  command("token add <name> <scope>", {
    summary: "Make a token: a secret for a program, which may do less than your API key",
    details: "The secret is shown only once.",
    options: {
      appliance: value("appliance", "the only appliance that it reaches"),
      expires: value("time", "when it stops working"),
    },
    examples: ["kiln token add nightly build --appliance First --expires 2027-01-31T12:00:00Z"],
    act: async ({ client, show }, { name, scope: given, appliance, expires }) => {
      const scope = scopes.find((one) => one === given);
      if (!scope) throw new Complaint("misused", `There is no scope ${given}.`, `The scopes are ${scopes.join(", ")}.`);
      const answer = await client.call("createToken", {
        name,
        scope,
        appliance_id: appliance === undefined ? undefined : await applianceId(client, appliance),
        expires_at: expires,
      });
      show(answer, () => `Token ${answer.token.id}. Its secret, which is not shown again: ${answer.token.secret}`);
    },
  }),
  command("token remove <token>", {
    summary: "Revoke a token: it stops working immediately",
    act: async ({ client, show }, { token }) => {
      const answer = await client.call("revokeToken", { token_id: numberOf(token, "token") });
      show(answer, () => `Revoked token ${token}.`);
    },
  }),
];
