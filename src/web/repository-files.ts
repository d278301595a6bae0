import { Hono } from "hono";
import { openerFor } from "#domain/operation/downloads";
import { answerBlob } from "#http/blob";
import { readerOf } from "#http/client-address";
import { repositoryFileKey } from "#storage/blobs";
import { headRepositoryFile } from "#storage/repository-files";

/** The package repositories that this service stores, as plain files. Agents install from them. */
export const repositoryFiles = new Hono<{ Bindings: Env }>().get("/:path{.+}", async (c) => {
  const path = c.req.param("path");
  const file = await headRepositoryFile(c.env.BLOBS, path);
  if (!file) return new Response("There is no such file.\n", { status: 404 });
  return await answerBlob(c.req.raw, {
    size: file.size,
    etag: file.httpEtag,
    contentType: "application/octet-stream",
    read: openerFor(c.env, readerOf(c))(repositoryFileKey(path)),
  });
});
