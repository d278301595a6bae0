import { listAcceptances } from "#domain/accounts/agreement";
import { factory } from "#admin-api/factory";

/** Which accounts accepted which legal agreement, and when. */
export const agreements = factory
  .createApp()
  .get("/", async (c) => c.json({ agreements: await listAcceptances(c.var.db) }));
