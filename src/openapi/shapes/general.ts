import { refusalCodes } from "#domain/refusal";
import { arrayOf, document, fields, id, oneOf, plainListOf, repeated, text, time, url } from "#openapi/shape";

export const account = document(
  "Account",
  "account",
  fields({
    username: text("mira"),
    displayname: text("Mira Lenz"),
    email: text("mira@example.org"),
    created_at: time("2026-03-02T09:12:45Z"),
    openid_urls: plainListOf("openid_url", url("https://id.example.org/mira")),
    disk_quota: fields({ available: text("20GB"), used: text("3%") }),
  }),
);

export const apiVersion = document("ApiVersion", "version", text("2.0"));

const templateSetShape = fields({
  name: text("default"),
  description: text("Plain Tiny Linux"),
  template: repeated(
    fields({
      appliance_id: id(1),
      name: text("Tiny Linux 1.0, just enough OS"),
      description: text("Boots to a prompt"),
      basesystem: text("tiny-1.0"),
    }),
  ),
});

export const templateSet = document("TemplateSet", "template_set", templateSetShape);
export const templateSets = document("TemplateSets", "template_sets", arrayOf("template_set", templateSetShape));

export { success } from "#documents/success";

export const error = document(
  "Error",
  "error",
  fields({ code: oneOf("invalid_appliance_id", ...others()), message: text("Invalid appliance id.") }),
);

function others(): string[] {
  return refusalCodes.filter((code) => code !== "invalid_appliance_id");
}
