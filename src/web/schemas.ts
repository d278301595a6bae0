import { Hono } from "hono";
import { applianceSchema } from "#openapi/appliance-schema";

const path = "/schema/appliance.json";

/** Editors check files with it. Some editors are pages of other sites, so these may read it too. */
export const schemas = new Hono<{ Variables: { baseUrl: string } }>().get("/appliance.json", (c) =>
  c.json(applianceSchema(c.var.baseUrl + path), 200, {
    "access-control-allow-origin": "*",
    "cache-control": "public, max-age=3600",
  }),
);
