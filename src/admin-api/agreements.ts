import { listAcceptances } from "#domain/accounts/agreement";
import { factory } from "#admin-api/factory";

/** Who accepted which legal agreement, and when. */
export const agreements = factory
  .createApp()
  .get("/", async (c) => c.json({ agreements: await listAcceptances(c.var.db) }));
