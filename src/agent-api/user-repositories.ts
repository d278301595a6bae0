import { z } from "zod";
import { userRepositoryFile } from "#domain/repositories/user-repository";
import { answerBlob } from "#http/blob";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

const RepositoryId = z.coerce.number().int().positive();

/** The repositories made of people's uploads. Any agent may read them: each could be the one that builds with them. */
export const userRepositories = factory.createApp().get("/:id/:path{.+}", async (c) => {
  const place = { env: c.env, db: c.var.db };
  const key = await userRepositoryFile(place, RepositoryId.parse(c.req.param("id")), c.req.param("path"));
  const file = key === undefined ? null : await c.env.BLOBS.head(key);
  if (key === undefined || !file) throw new AgentRefusal("no_file");
  return await answerBlob(c.req.raw, {
    size: file.size,
    etag: file.httpEtag,
    contentType: "application/octet-stream",
    read: (range) => c.env.BLOBS.get(key, { range }),
  });
});
