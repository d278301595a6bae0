import { createFactory } from "hono/factory";
import type { Database } from "#storage/db";

export type AdminEnv = { Bindings: Env; Variables: { db: Database; baseUrl: string; refused?: string } };

export const factory = createFactory<AdminEnv>();
