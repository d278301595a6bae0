import { z } from "zod";
import { deletionPause, readOnlyMode, setDeletionPause, setReadOnlyMode } from "#domain/service-settings";
import { factory } from "#admin-api/factory";

const ReadOnlyRequest = z.object({ on: z.boolean(), message: z.string().max(500).optional() });
const PauseRequest = z.object({ paused: z.boolean() });

/**
 * Switches for the operator: read-only mode, and the sweep's deletions, which are paused while a restored database is
 * checked.
 */
export const switches = factory
  .createApp()
  .get("/read-only", async (c) => c.json(await readOnlyMode(c.var.db)))
  .put("/read-only", async (c) => {
    return c.json(await setReadOnlyMode(c.var.db, ReadOnlyRequest.parse(await c.req.json())));
  })
  .get("/deletions", async (c) => c.json(await deletionPause(c.env)))
  .put("/deletions", async (c) => {
    const { paused } = PauseRequest.parse(await c.req.json());
    return c.json(await setDeletionPause(c.env, paused));
  });
