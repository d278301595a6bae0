import { z } from "zod";
import { frozenPackageKey } from "#domain/repositories/user-repository";
import { answerBlob } from "#http/blob";
import { heldBuild } from "#agent-api/attempt";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

const Package = z.object({ blobId: z.uuid(), number: z.coerce.number().int().nonnegative() });

/** The uploaded packages that a build was frozen with, only for the attempt that builds with them. */
export const packages = factory.createApp().get("/:id/packages/:blobId/:number/:fileName", async (c) => {
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
    read: (range) => c.env.BLOBS.get(key, { range }),
  });
});
