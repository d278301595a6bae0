import { fields } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** Done, with nothing to report: the Java client rejects any element in it. */
export const success = document<unknown, unknown>("Success", "success", fields({}));
