import { fields } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** Success with nothing to report. The Java client rejects any element in it. */
export const success = document<unknown, unknown>("Success", "success", fields({}));
