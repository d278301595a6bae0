import { refused, type Row } from "./row.ts";

export const general: readonly Row[] = [
  { call: "GET /account", path: "/account", answer: "account" },
  { call: "GET /account/limits", path: "/account/limits", answer: "limits" },
  { call: "GET /api_version", path: "/api_version/", answer: "version" },
  { call: "GET /template_sets", path: "/template_sets", answer: "template_sets" },
  {
    call: "GET /template_sets/{name}",
    path: "/template_sets/default",
    answer: "template_set",
    refused: [refused("/template_sets/none", "invalid_template_set", { status: "unknown" })],
  },
];
