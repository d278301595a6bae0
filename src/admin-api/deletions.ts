import { z } from "zod";
import { deletionPause, setDeletionPause } from "#domain/service-settings";
import { factory } from "#admin-api/factory";

const PauseRequest = z.object({ paused: z.boolean() });

/** Whether the sweep removes what it does not need, or leaves it until a restored database was looked at. */
export const deletions = factory
  .createApp()
  .get("/", async (c) => c.json(await deletionPause(c.env)))
  .put("/", async (c) => {
    const { paused } = PauseRequest.parse(await c.req.json());
    return c.json(await setDeletionPause(c.env, paused));
  });
