import { Hono } from "hono";
import { xml } from "#api/respond";
import { answerImage } from "#http/image";
import { findDownload } from "#storage/builds";
import type { Database } from "#storage/db";

/** Images by their unguessable address, without credentials: whoever has it may download. */
export const download = new Hono<{ Bindings: Env; Variables: { db: Database } }>().get(
  "/:token/:fileName",
  async (c) => {
    const build = await findDownload(c.var.db, c.req.param("token"));
    if (build?.fileName !== c.req.param("fileName")) return noFile();
    if (build.expiredAt !== null) return xml(c, "error", { code: "build_not_found", message: expired }, 410);
    return (await answerImage(c.env.BLOBS, c.req.raw, build)) ?? noFile();
  },
);

const expired = "This image was removed because of its age. Build its version again to download it.";

const noFile = () => new Response("There is no such file.\n", { status: 404 });
