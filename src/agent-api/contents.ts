import { findFrozenContent } from "#domain/builds/frozen-content";
import { attemptOf, buildIdOf } from "#agent-api/attempt";
import { factory } from "#agent-api/factory";
import { accepted, AgentRefusal } from "#agent-api/refusal";

/** The appliance's own files, for the attempt that builds with them and for nobody else. */
export const contents = factory.createApp().get("/:id/contents/:blobId", async (c) => {
  const { build, token } = attemptOf(c);
  accepted(await build.checkAttempt(token));
  const wanted = { buildId: buildIdOf(c), blobId: c.req.param("blobId") };
  const content = await findFrozenContent({ env: c.env, db: c.var.db }, wanted);
  if (!content) throw new AgentRefusal("no_content");
  return new Response(content.body, {
    headers: { "content-type": "application/octet-stream", "content-length": String(content.size) },
  });
});
