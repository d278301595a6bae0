import { Hono } from "hono";
import { openerFor } from "#domain/operation/downloads";
import { findMachineFile } from "#domain/repositories/machine-repository";
import { answerBlob } from "#http/blob";
import { readerOf } from "#http/client-address";
import { answerText } from "#http/text";
import { noFile } from "./download.ts";
import type { WebEnv } from "./factory.ts";

const contentType = "application/octet-stream";

/** User repositories for the machines of appliances: their package managers need no account. */
export const machineRepositories = new Hono<WebEnv>().get("/:address/:path{.+}", async (c) => {
  const { address, path } = c.req.param();
  const found = await findMachineFile({ env: c.env, db: c.var.db }, address, path);
  if (!found) return noFile(c);
  if ("text" in found) return await answerText(c.req.raw, { text: found.text, contentType });
  const head = await c.env.BLOBS.head(found.key);
  if (!head) return noFile(c);
  const read = openerFor(c.env, readerOf(c))(found.key);
  return await answerBlob(c.req.raw, { size: head.size, etag: head.httpEtag, contentType, read });
});
