import type { Context } from "hono";
import { z } from "zod";
import { buildDifference, compareFiles, findCompared, type ComparedFiles } from "#domain/difference/builds";
import { factory, type ApiEnv } from "#api/factory";
import { id, parseParams, pathId, readParams } from "#api/params";
import { xmlOrText } from "#api/respond";
import { v2Only } from "#api/v2-only";
import { buildDifferenceFields } from "#api/views/build-difference";
import { differenceText } from "#api/views/difference-text";

const longestPath = 4096; // PATH_MAX
const mostFiles = 1000;

/** A path in an image; `/etc/` is `/etc`. */
const imagePath = z
  .string()
  .max(longestPath, "invalid_value")
  .regex(/^\/[^\0]*$/, "invalid_value")
  .transform((path) => path.replace(/\/+$/, "") || "/");

export const DifferenceRequest = z.object({
  to: id("invalid_build_id"),
  path: imagePath.default("/"),
  after: imagePath.optional(),
  limit: z
    .string()
    .regex(/^0*[1-9]\d{0,8}$/, "invalid_value")
    .transform((text) => Math.min(Number(text), mostFiles))
    .default(100),
});

/** What a build has that another one has not: a call of our own. */
export const buildsDifference = factory.createApp().get("/builds/:id/difference", v2Only, async (c) => {
  const { to, ...range } = parseParams(DifferenceRequest, await readParams(c));
  const from = pathId(c, "id", "invalid_build_id");

  const compared = await findCompared({ env: c.env, db: c.var.db }, c.var.account.id, { from, to });
  const difference = buildDifference(compared.from, compared.to);
  const files = await compareFiles(c.env, compared, range);

  const nextUrl = nextPage(c, { from, to, ...range }, files);
  const text = () => differenceText(difference, files, nextUrl);
  return xmlOrText(c, "difference", buildDifferenceFields(difference, files, nextUrl), text);
});

interface Asked {
  from: number;
  to: number;
  path: string;
  limit: number;
}

function nextPage(c: Context<ApiEnv>, { from, to, path, limit }: Asked, files: ComparedFiles): string | undefined {
  if (files.state === "gone" || files.next === undefined) return undefined;
  const query = new URLSearchParams({ to: String(to), path, after: files.next, limit: String(limit) });
  return `${c.var.baseUrl}/api/v2/user/builds/${from}/difference?${query}`;
}
