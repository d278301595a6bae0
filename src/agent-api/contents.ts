import { findFrozenContent } from "#domain/builds/frozen-content";
import { heldBuild } from "#agent-api/attempt";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

/** The appliance's own files, only for the attempt that builds with them. */
export const contents = factory.createApp().get("/:id/contents/:blobId", async (c) => {
  const wanted = { buildId: (await heldBuild(c)).id, blobId: c.req.param("blobId") };
  const content = await findFrozenContent({ env: c.env, db: c.var.db }, wanted);
  if (!content) throw new AgentRefusal("no_content");
  return new Response(content.body, {
    headers: { "content-type": "application/octet-stream", "content-length": String(content.size) },
  });
});
