import { unwritable } from "#http/body-text";
import { readWhole, utf8Of } from "#http/whole-body";
import { contentKey } from "#storage/blobs";
import type { OverlayFile } from "#storage/overlay-files";

/** The page does not edit longer files. */
export const maxTextBytes = 64 * 1024;

/** The text of a file, if a form can show and send it unchanged. */
export async function textOf(blobs: R2Bucket, { blobId, size }: OverlayFile): Promise<string | undefined> {
  if (size > maxTextBytes) return undefined;
  const found = await blobs.get(contentKey(blobId));
  const bytes = found && (await readWhole(found.body, maxTextBytes));
  const text = bytes ? utf8Of(bytes) : undefined;
  return text !== undefined && text.replaceAll(unwritable, "") === text && isOneKindOfLines(text) ? text : undefined;
}

/** A form sends the same line ending everywhere. */
const isOneKindOfLines = (text: string): boolean =>
  !/\r(?!\n)/.test(text) && (!text.includes("\r\n") || !/(?<!\r)\n/.test(text));

/** The submitted text with the line endings that the file had. */
export const withLineEnds = (text: string, before: string): string =>
  before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
