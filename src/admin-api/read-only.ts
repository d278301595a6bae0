import { z } from "zod";
import { readOnlyMode, setReadOnlyMode } from "#domain/service-settings";
import { factory } from "#admin-api/factory";

const ReadOnlyRequest = z.object({ on: z.boolean() });

export const readOnly = factory
  .createApp()
  .get("/", async (c) => c.json(await readOnlyMode(c.var.db)))
  .put("/", async (c) => {
    const { on } = ReadOnlyRequest.parse(await c.req.json());
    return c.json(await setReadOnlyMode(c.var.db, on));
  });
