import { vexJustifications, vexStatuses } from "#lib/advisories/vex";
import type { VexStatement } from "#storage/vex-statements";
import { arrayOf, fields, id, oneOf, text, time } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** An owner's statement about an advisory. */
export const stated = {
  status: oneOf("status", vexStatuses),
  justification: oneOf("justification", vexJustifications, "vulnerable_code_not_in_execute_path").optional(),
  text: text("text", "The server never parses certificates of clients."),
  stated_at: time("statedAt", "2026-03-04T16:30:00Z"),
};

/** The element `vex_statements`: a Kiln extension. Without a build, a statement is about all images of the appliance. */
export const vexStatements = document(
  "VexStatements",
  "vex_statements",
  arrayOf(
    "vex_statement",
    fields({
      advisory: text("advisory", "CVE-2026-1234"),
      build_id: id("buildId", 31).when(({ buildId }: VexStatement) => buildId !== 0),
      ...stated,
    }),
  ),
);
