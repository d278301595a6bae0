import { z } from "zod";
import { deletionPause, setDeletionPause } from "#domain/service-settings";
import { factory } from "#admin-api/factory";

const PauseRequest = z.object({ paused: z.boolean() });

/** Pauses the sweep's deletions, until an operator has checked a restored database. */
export const deletions = factory
  .createApp()
  .get("/", async (c) => c.json(await deletionPause(c.env)))
  .put("/", async (c) => {
    const { paused } = PauseRequest.parse(await c.req.json());
    return c.json(await setDeletionPause(c.env, paused));
  });
