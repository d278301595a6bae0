import { Hono } from "hono";
import { applianceSchema } from "#openapi/appliance-schema";

const path = "/schema/appliance.json";

/** Editors check files with this schema. Some editors are web pages of other sites, so those may read it, too. */
export const schemas = new Hono<{ Variables: { baseUrl: string } }>().get("/appliance.json", (c) =>
  c.json(applianceSchema(c.var.baseUrl + path), 200, {
    "access-control-allow-origin": "*",
    "cache-control": "public, max-age=3600",
  }),
);
