import { refusalCodes } from "#domain/refusal";
import { document, fields, oneOf, text } from "#openapi/shape";

export { success } from "#documents/success";

export const error = document(
  "Error",
  "error",
  fields({ code: oneOf("invalid_appliance_id", ...others()), message: text("Invalid appliance id.") }),
);

function others(): string[] {
  return refusalCodes.filter((code) => code !== "invalid_appliance_id");
}
