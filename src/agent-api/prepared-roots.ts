import { PreparedKey, partDigestHeader } from "#contract/index";
import { findPrepared } from "#domain/builds/prepared-root";
import { heldBuild } from "#agent-api/attempt";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

/** Roots that other builds of the same appliance have prepared, for an attempt that builds another format. */
export const preparedRoots = factory.createApp().get("/:id/prepared/:key", async (c) => {
  const key = PreparedKey.parse(c.req.param("key"));
  const found = await findPrepared({ env: c.env, db: c.var.db }, await heldBuild(c), key);
  if (!found) throw new AgentRefusal("no_prepared_root");
  return new Response(found.blob.body, {
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(found.blob.size),
      [partDigestHeader]: found.sha256,
    },
  });
});
