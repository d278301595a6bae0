import { signedIn } from "../../support/client.ts";
import { refused, type Row } from "./row.ts";

export const general: readonly Row[] = [
  { call: "GET /account", path: "/account", answer: "account" },
  { call: "GET /account/limits", path: "/account/limits", answer: "limits" },
  {
    call: "GET /account/audit_log",
    path: "/account/audit_log?before=999999999",
    answer: "audit_log",
    refused: [refused("/account/audit_log?before=x", "invalid_value")],
  },
  {
    call: "PUT /account/mail",
    path: "/account/mail?advisories=false",
    answer: "success",
    refused: [
      refused("/account/mail", "missing_parameter"),
      refused("/account/mail?advisories=daily", "invalid_value"),
      refused("/account/mail?advisories=true", "invalid_value"),
    ],
  },
  {
    call: "DELETE /account",
    path: "/account",
    sent: { text: "password=correct horse" },
    answer: "success",
    fresh: async ({ ids }) => ({ tux: await signedIn(), ids }),
    refused: [
      refused("/account", "missing_parameter", { sent: { text: "password=" } }),
      refused("/account", "access_denied", { sent: { text: "password=wrong" }, status: 403 }),
    ],
  },
  {
    call: "PUT /account/password",
    path: "/account/password",
    sent: { text: "password=correct horse&new_password=correct horse" },
    answer: "success",
    refused: [
      refused("/account/password", "missing_parameter", { sent: { text: "password=correct horse" } }),
      refused("/account/password", "missing_parameter", { sent: { text: "new_password=correct horse" } }),
      refused("/account/password", "invalid_value", { sent: { text: "password=a&new_password=short" } }),
      refused("/account/password", "access_denied", {
        sent: { text: "password=a&new_password=better horse" },
        status: 403,
      }),
    ],
  },
  { call: "GET /api_version", path: "/api_version/", answer: "version" },
  { call: "GET /template_sets", path: "/template_sets", answer: "template_sets" },
  {
    call: "GET /template_sets/{name}",
    path: "/template_sets/default",
    answer: "template_set",
    refused: [refused("/template_sets/none", "invalid_template_set", { status: "unknown" })],
  },
];
