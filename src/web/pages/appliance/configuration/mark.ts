import { createHash } from "node:crypto";

/** Identifies what a form has shown. If it was changed in the meantime, it has a different mark. */
export const markOf = (shown: unknown): string =>
  createHash("sha256").update(JSON.stringify(shown)).digest("hex").slice(0, 16);
