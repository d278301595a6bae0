import { orderOf, type FileEntry } from "#contract/index";
import type { FileIndex } from "#domain/images/file-store";

/** Everything of an image at and below `path`, after `after`. */
export async function* entriesIn(
  index: Pick<FileIndex, "entriesFrom">,
  path: string,
  after?: string,
): AsyncGenerator<FileEntry> {
  const order = orderOf(path);
  const below = path === "/" ? order : `${order}\0`;
  // Nothing sorts between a key and the same key followed by NUL.
  const start = after === undefined ? order : `${orderOf(after)}\0`;
  for await (const entry of index.entriesFrom(start > order ? start : order)) {
    const at = orderOf(entry.path);
    if (at !== order && !at.startsWith(below)) return;
    yield entry;
  }
}
