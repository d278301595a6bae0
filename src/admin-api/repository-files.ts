import { z } from "zod";
import { deleteRepositoryFile, listRepositoryFiles, putRepositoryFile } from "#storage/repository-files";
import { Refusal } from "#domain/refusal";
import { importNow } from "#domain/repositories/repository";
import { factory } from "#admin-api/factory";

// Names of rpm-md trees; no segment may be "." or "..".
const FilePath = z
  .string()
  .regex(
    /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._+~^@-]+(?:\/[A-Za-z0-9._+~^@-]+)+$/,
    "Give the path of a file in a repository, such as tiny/main/repodata/repomd.xml.",
  );

/**
 * Files of the repositories that this service stores in R2, and an immediate import of any repository. Write repomd.xml
 * last, because readers start there.
 */
export const repositoryFiles = factory
  .createApp()
  .get("/", async (c) => {
    const prefix = c.req.query("prefix") ?? "";
    return c.json({ files: await listRepositoryFiles(c.env.BLOBS, prefix) });
  })
  .post("/:id{\\d{1,15}}/import", async (c) => {
    const { id, url } = await importNow({ env: c.env, db: c.var.db }, Number(c.req.param("id")));
    return c.json({ id, url });
  })
  .put("/:path{.+}", async (c) => {
    const path = FilePath.parse(c.req.param("path"));
    const body = c.req.raw.body;
    const size = Number(c.req.header("content-length"));
    if (!body || !Number.isSafeInteger(size)) {
      throw new Refusal("invalid_value", { message: "The file must come with its Content-Length." });
    }
    await putRepositoryFile(c.env.BLOBS, path, { body, size });
    return c.json({ path, size });
  })
  .delete("/:path{.+}", async (c) => {
    const path = FilePath.parse(c.req.param("path"));
    await deleteRepositoryFile(c.env.BLOBS, path);
    return c.json({ removed: path });
  });
