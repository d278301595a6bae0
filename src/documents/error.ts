import { refusalCodes } from "#domain/refusal";
import { fields, oneOf, text } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** Exactly these two elements: the Java client rejects any other (compatibility.md, "Success and errors"). */
export const error = document(
  "Error",
  "error",
  fields({
    code: oneOf("code", refusalCodes, "invalid_appliance_id"),
    message: text("message", "Invalid appliance id."),
  }),
);
