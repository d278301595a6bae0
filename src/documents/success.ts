import { fields } from "#wire/field";
import { document } from "#wire/shape";

/** Done, and nothing to tell: a client rejects any element in it. */
export const success = document<unknown, unknown>("Success", "success", fields({}));
