import type { Context } from "hono";
import { readOnlyMode, type ReadOnlyMode } from "#domain/service-settings";
import type { WebEnv } from "./factory.ts";

/** The mode as a page shows it, which reads it once. */
export function readOnlyOf(c: Context<WebEnv>): Promise<ReadOnlyMode> {
  const mode = c.var.readOnly ?? readOnlyMode(c.var.db);
  c.set("readOnly", mode);
  return mode;
}
