import type { Context } from "hono";
import { z } from "zod";
import type { ModifiedFilter } from "#contract/index";
import {
  getOwnTestdrive,
  listModified,
  openModified,
  openModifiedArchive,
  type ModifiedContent,
} from "#domain/testdrives/modified-files";
import { keepModified } from "#domain/testdrives/keep-modified-files";
import { Refusal } from "#domain/refusal";
import { factory, type ApiEnv } from "#api/factory";
import { flag, id, parseParams, pathId, readRepeated } from "#api/params";
import { xml } from "#api/respond";
import { v2Only } from "#api/v2-only";
import { keptFilesFields, modifiedFilesFields } from "#api/views/modified-file";

const path = z.string({ error: "missing_parameter" }).max(4096, "invalid_value");

/** Which files: `path` and `except` may stand several times, and mean what is below them, too. */
export const ModifiedParams = z.object({
  path: path.optional(),
  except: path.optional(),
});
export const ModifiedListParams = ModifiedParams.extend({ difference: flag.optional() });
export const ModifiedDataParams = z.object({ path });
export const KeepParams = z.object({
  path,
  except: path.optional(),
  archive: flag.optional(),
  appliance_id: id("invalid_appliance_id").optional(),
});

/** What the session of a testdrive has changed in its image. */
export const modifiedFiles = factory
  .createApp()
  .get("/testdrives/:id/modified_files", v2Only, async (c) => {
    const { testdrive, first, filter } = await read(c);
    const { difference: withDifferences = true } = parseParams(ModifiedListParams, first);

    const list = await listModified(c.env, testdrive, { filter, withDifferences });

    return xml(c, "modified_files", modifiedFilesFields(list));
  })
  .get("/testdrives/:id/modified_files/data", v2Only, async (c) => {
    const { testdrive, first } = await read(c);
    const { path } = parseParams(ModifiedDataParams, first);

    const content = await openModified(c.env, testdrive, { path: normalised(path) });

    return await bytes(c, content, "application/octet-stream");
  })
  .get("/testdrives/:id/modified_files/archive", v2Only, async (c) => {
    const { testdrive, filter } = await read(c);
    const content = await openModifiedArchive(c.env, testdrive, filter);
    return await bytes(c, content, "application/gzip");
  })
  .post("/testdrives/:id/modified_files/keep", v2Only, async (c) => {
    const { testdrive, first, filter } = await read(c);
    const { archive: asArchive = false, appliance_id: applianceId } = parseParams(KeepParams, first);
    const place = { env: c.env, db: c.var.db, accountId: c.var.account.id };

    const kept = await keepModified(place, testdrive, { filter, asArchive, applianceId });

    return xml(c, "kept_files", keptFilesFields(kept, c.var));
  });

const mostPaths = 200;

async function read(c: Context<ApiEnv>) {
  const testdriveId = pathId(c, "id", "unknown_error");
  const testdrive = await getOwnTestdrive(c.var.db, c.var.account.id, testdriveId);
  const { first, all } = await readRepeated(c);
  const filter: ModifiedFilter = { paths: all("path").map(normalised), except: all("except").map(normalised) };
  if (filter.paths.length > mostPaths || filter.except.length > mostPaths) {
    throw new Refusal("invalid_value", { message: `At most ${mostPaths} paths can be named at once.` });
  }
  return { testdrive, filter, first: { ...first, ...(filter.paths[0] && { path: filter.paths[0] }) } };
}

/** An absolute path of the image, without `.`, double slashes and a slash at its end; `..` is refused, wherever it leads. */
function normalised(text: string): string {
  const steps = text.split("/").filter((step) => step !== "" && step !== ".");
  if (!text.startsWith("/") || steps.includes("..") || text.length > 4096 || /[\u0000-\u001f\u007f]/.test(text)) {
    throw new Refusal("invalid_value", { message: "A path is absolute and goes down: /etc/motd." });
  }
  return `/${steps.join("/")}`;
}

/** A guest's file is shown by no browser. */
async function bytes(c: Context, { size, body }: ModifiedContent, contentType: string): Promise<Response> {
  const headers = {
    "content-type": contentType,
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    "content-encoding": "identity",
    ...(size === undefined ? {} : { "content-length": String(size) }),
  };
  if (c.req.method !== "HEAD") return new Response(body, { headers });
  await body.cancel();
  return new Response(null, { headers });
}
