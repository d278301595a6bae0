import type { FileEntry, RegularFile } from "#lib/contract/index";

/** The last entry of an image at or before `path`, in the order of its index. */
export type EntryBefore = (path: string) => Promise<FileEntry | undefined>;

// Linux's limit.
const maxLinks = 40;

/**
 * The regular file that a path refers to inside an image, where "/" is the image's root and nothing leads out of it.
 * Undefined if there is none, if it is not a regular file, or if links form a loop.
 *
 * If the path is not in the index, the entry before it shows how much of the path exists: a directory comes directly
 * before everything below it, so the longest existing part is an ancestor of that entry, or the entry itself. Only the
 * entry itself can be a link, because nothing is below a link.
 */
export async function fileAt(path: string, entryBefore: EntryBefore): Promise<RegularFile | undefined> {
  let place: string[] = [];
  let ahead = namesOf(path);
  let entry: FileEntry | undefined;
  for (let links = 0; ahead.length > 0;) {
    if (ahead[0] === "..") {
      if (entry && entry.type !== "d") return undefined;
      [place, ahead, entry] = [place.slice(0, -1), ahead.slice(1), undefined];
      continue;
    }
    const up = ahead.indexOf("..");
    const down = up < 0 ? ahead : ahead.slice(0, up);
    const wanted = [...place, ...down];
    entry = await entryBefore(pathOf(wanted));
    const reached = entry && namesOf(entry.path);
    if (!entry || !reached || !startsWith(wanted, reached)) return undefined;
    const rest = ahead.slice(reached.length - place.length);
    if (entry.type === "l") {
      links += 1;
      if (links > maxLinks) return undefined;
      place = entry.target.startsWith("/") ? [] : reached.slice(0, -1);
      ahead = [...namesOf(entry.target), ...rest];
      entry = undefined;
      continue;
    }
    if (reached.length < wanted.length) return undefined;
    [place, ahead] = [reached, rest];
  }
  return entry?.type === "f" ? entry : undefined;
}

const namesOf = (path: string): string[] => path.split("/").filter((name) => name !== "" && name !== ".");

const pathOf = (names: string[]): string => `/${names.join("/")}`;

const startsWith = (names: string[], start: string[]): boolean => start.every((name, at) => names[at] === name);
