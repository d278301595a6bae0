import { z } from "zod";
import { buildDifference as buildDifferenceDocument, type ShownDifference } from "#documents/build-difference";
import { differenceText } from "#documents/difference-text";
import { buildDifference, compareFiles, getCompared, type ComparedFiles } from "#domain/difference/builds";
import { v2 } from "#api/operation";
import { call } from "#api/call";
import { id } from "#http/params";

const maxPathLength = 4096; // PATH_MAX
const maxFiles = 1000;

/** A path in an image. `/etc/` becomes `/etc`. */
const imagePath = z
  .string()
  .max(maxPathLength, "invalid_value")
  .regex(/^\/[^\0]*$/, "invalid_value")
  .transform((path) => path.replace(/\/+$/, "") || "/");

const DifferenceRequest = z.object({
  to: id("invalid_build_id"),
  path: imagePath.default("/"),
  after: imagePath.optional(),
  limit: z
    .string()
    .regex(/^0*[1-9]\d{0,8}$/, "invalid_value")
    .transform((text) => Math.min(Number(text), maxFiles))
    .default(100),
});

/** How another build differs from this one: a Kiln extension. */
export const compareBuilds = call("GET /builds/{build_id}/difference", {
  name: "compareBuilds",
  access: "own",
  rate: "differences",
  versions: v2,
  summary: "How another build differs: packages, licences, settings, size and files",
  details: "Both may be your own, of an appliance that is shared with you, or of a published version.",
  ids: { build_id: "invalid_build_id" },
  params: DifferenceRequest,
  about: {
    to: "Id of the other build.",
    path: "Only files at and below this path.",
    after: "Only files after this path, as `next_url` gives it.",
    limit: "Number of files, 1000 at most. Default: 100.",
  },
  answer: buildDifferenceDocument,
  asText: ({ difference, files, nextUrl }) => differenceText(difference, files, nextUrl),
  refuses: ["missing_parameter", "invalid_build_id", "invalid_value", "build_not_found", "raw_image_unavailable"],
  act: async ({ env, db, account, baseUrl }, { build_id: from, to, path, after, limit }): Promise<ShownDifference> => {
    const compared = await getCompared({ env, db }, account.id, { from, to });
    const difference = buildDifference(compared.from, compared.to);
    const files = await compareFiles(env, { ...compared, readerId: account.id }, { path, after, limit });
    return { difference, files, nextUrl: nextPage(baseUrl, { from, to, path, limit }, files) };
  },
});

interface Asked {
  from: number;
  to: number;
  path: string;
  limit: number;
}

function nextPage(baseUrl: string, { from, to, path, limit }: Asked, files: ComparedFiles): string | undefined {
  if (files.state === "gone" || files.next === undefined) return undefined;
  const query = new URLSearchParams({ to: String(to), path, after: files.next, limit: String(limit) });
  return `${baseUrl}/api/v2/user/builds/${from}/difference?${query}`;
}
