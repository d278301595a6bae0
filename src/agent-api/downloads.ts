import { z } from "zod";
import { PreparedKey, partDigestHeader } from "#lib/contract/index";
import { findEarlierDelta } from "#domain/builds/delta";
import { findFrozenContent } from "#domain/builds/frozen-content";
import { findPrepared } from "#domain/builds/prepared-root";
import { openerFor } from "#domain/operation/downloads";
import { frozenPackageKey } from "#domain/repositories/user-repository";
import { answerBlob } from "#http/blob";
import { heldBuild } from "#agent-api/attempt";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

const Package = z.object({ blobId: z.uuid(), number: z.coerce.number().int().nonnegative() });

/**
 * Downloads for the attempt that runs a build: the appliance's own files, the uploaded packages that the build was
 * frozen with, roots that other builds of the appliance have prepared, and the delta of its previous image.
 */
export const downloads = factory
  .createApp()
  .get("/:id/contents/:blobId", async (c) => {
    const wanted = { buildId: (await heldBuild(c)).id, blobId: c.req.param("blobId") };
    const content = await findFrozenContent({ env: c.env, db: c.var.db }, wanted);
    if (!content) throw new AgentRefusal("no_content");
    return new Response(content.body, {
      headers: { "content-type": "application/octet-stream", "content-length": String(content.size) },
    });
  })
  .get("/:id/packages/:blobId/:number/:fileName", async (c) => {
    const { id: buildId } = await heldBuild(c);
    const wanted = Package.safeParse(c.req.param());
    const key = wanted.success
      ? await frozenPackageKey({ env: c.env, db: c.var.db }, { ...wanted.data, buildId })
      : undefined;
    const file = key === undefined ? null : await c.env.BLOBS.head(key);
    if (key === undefined || !file) throw new AgentRefusal("no_package");
    return await answerBlob(c.req.raw, {
      size: file.size,
      etag: file.httpEtag,
      contentType: "application/octet-stream",
      read: openerFor(c.env)(key),
    });
  })
  .get("/:id/prepared/:key", async (c) => {
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
  })
  .get("/:id/earlier-delta", async (c) => {
    const delta = await findEarlierDelta({ env: c.env, db: c.var.db }, await heldBuild(c));
    if (!delta) throw new AgentRefusal("no_delta");
    return new Response(delta.body, {
      headers: { "content-type": "application/octet-stream", "content-length": String(delta.size) },
    });
  });
