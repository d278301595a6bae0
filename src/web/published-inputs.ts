import { Hono, type Context } from "hono";
import { z } from "zod";
import { openPublishedBuild, publishedContentKey, publishedUploadKey } from "#domain/builds/published-input";
import { keyOfPiece, packagesOfBuild } from "#domain/builds/stored-packages";
import { openerFor } from "#domain/operation/downloads";
import { answerBlob } from "#http/blob";
import { readerOf } from "#http/client-address";
import { inputKey } from "#storage/blobs";
import type { Build } from "#storage/builds";
import { noFile } from "./download.ts";
import type { WebEnv } from "./factory.ts";

const Upload = z.object({ blobId: z.uuid(), number: z.coerce.number().int().min(0).max(999_999) });
const Piece = z.object({
  packageId: z.coerce.number().int().positive(),
  piece: z.coerce.number().int().min(1).max(64),
});

/**
 * The sources of a published image, for everyone. The paths below the build are those that an agent reads for its own
 * build (`src/agent-api/downloads.ts`), so an agent can build it again without being one of this service.
 */
export const publishedInputs = new Hono<WebEnv>()
  .get(
    "/:build/input.json",
    of((c, { inputSha256 }) => answerFile(c, inputKey(inputSha256), "application/json")),
  )
  .get(
    "/:build/contents/:blobId",
    of(async (c, build) => answerFile(c, await publishedContentKey(c.env, build, c.req.param("blobId") ?? ""))),
  )
  .get(
    "/:build/packages/:blobId/:number/:fileName",
    of(async (c, build) => {
      const wanted = Upload.safeParse(c.req.param());
      return await answerFile(c, wanted.success ? await publishedUploadKey(c.env, build, wanted.data) : undefined);
    }),
  )
  .get(
    "/:build/stored-packages",
    of(async (c, build) => c.json({ packages: await packagesOfBuild({ env: c.env, db: c.var.db }, build) })),
  )
  .get(
    "/:build/stored-packages/:packageId/:piece",
    of(async (c, build) => {
      const wanted = Piece.safeParse(c.req.param());
      return await answerFile(c, wanted.success ? await keyOfPiece(c.var.db, build, wanted.data) : undefined);
    }),
  );

function of(answer: (c: Context<WebEnv>, build: Build) => Promise<Response>) {
  return async (c: Context<WebEnv>): Promise<Response> => {
    const id = z.coerce.number().int().positive().safeParse(c.req.param("build"));
    const build = id.success ? await openPublishedBuild(c.var.db, id.data) : undefined;
    return build ? await answer(c, build) : noFile(c);
  };
}

/** A file in R2. It may have been deleted since the build. */
async function answerFile(
  c: Context<WebEnv>,
  key: string | undefined,
  contentType = "application/octet-stream",
): Promise<Response> {
  const file = key === undefined ? null : await c.env.BLOBS.head(key);
  if (key === undefined || !file) return noFile(c);
  const answer = await answerBlob(c.req.raw, {
    size: file.size,
    etag: file.httpEtag,
    contentType,
    read: openerFor(c.env, readerOf(c))(key),
  });
  // A cache must not serve the file after the version has left the gallery.
  answer.headers.set("cache-control", "no-cache");
  return answer;
}
