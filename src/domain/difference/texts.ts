import { isSecretPath } from "#lib/contract/index";
import type { ComparedBuild } from "#domain/difference/builds";
import type { FileChange } from "#domain/difference/files";
import { lineDifference, type Line } from "#domain/difference/lines";
import { getImageFile } from "#domain/images/files";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { rest } from "#lib/loop/pace";

/** How the lines of one file differ between two images. */
export interface TextDifference {
  path: string;
  lines: Line[];
}

/** The maximum number of files to compare, because each is read from both images. */
const maxTexts = 8;
const maxBytes = 32 * 1024;

/** Directories in which people edit files. Files in other directories come from packages, and change with them. */
const places = /^\/(?:etc|home|opt|root|srv|usr\/local|var\/(?:lib\/www|www))\//;

/**
 * The differences of small text files, the appliance's own first. Both images must belong to the reader. For any other
 * image, each file would have to be checked for being a copy of a secret, which is expensive.
 */
export async function textDifferences(
  services: Services<Pick<Env, "BLOBS">>,
  compared: Record<"from" | "to", ComparedBuild> & { readerId: number },
  changes: readonly FileChange[],
): Promise<TextDifference[]> {
  const { from, to, readerId } = compared;
  if ([from, to].some(({ build }) => build.accountId !== readerId)) return [];
  const own = new Set([from, to].flatMap(({ input }) => (input.files ?? []).map(({ path }) => path)));
  const chosen = changes
    .filter((change) => isReadable(change) && (own.has(change.path) || places.test(change.path)))
    .toSorted((one, other) => Number(own.has(other.path)) - Number(own.has(one.path)))
    .slice(0, maxTexts);
  const texts: TextDifference[] = [];
  for (const change of chosen) {
    const before = change.from ? await textAt(services, from, change.path) : "";
    const after = change.to ? await textAt(services, to, change.path) : "";
    await rest();
    if (before === undefined || after === undefined) continue;
    const lines = lineDifference(before, after);
    if (lines.length > 0) texts.push({ path: change.path, lines });
  }
  return texts;
}

function isReadable({ path, from, to }: FileChange): boolean {
  const both = [from, to].filter((file) => file !== undefined);
  return !isSecretPath(path) && both.every(({ type, size = 0 }) => type === "f" && size <= maxBytes);
}

/** Undefined if the file is not text, or cannot be read. */
async function textAt(
  services: Services<Pick<Env, "BLOBS">>,
  { build: { id: buildId, applianceId, accountId } }: ComparedBuild,
  path: string,
): Promise<string | undefined> {
  try {
    const file = await getImageFile(services, { id: applianceId, accountId }, { buildId, path, readerId: accountId });
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(
      await new Response(await file.open()).arrayBuffer(),
    );
    return text.includes("\0") ? undefined : text;
  } catch (error) {
    if (error instanceof Refusal || error instanceof TypeError) return undefined;
    throw error;
  }
}
