import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** The files of a checkout as paths relative to its root, without installed and built files. */
export type KnownFiles = readonly string[];

const code = /\.(?:[cm]?[jt]s|tsx)$/;
/** A path or its beginning, relative to the file's folder: new URL(`../../guest/${name}`, import.meta.url). */
const beside = /(?:new URL\(\s*|import\.meta\.dirname,\s*)["'`]([\w@./-]+)/g;
/** A path to a file, relative to the root or to the file's own folder. "#…" is an import of the service. */
const named = /["'`](#[\w./-]+|[\w@./-]*\/[\w.-]+\.\w+)(?=["'`?])/g;
/** A file that is built from the files next to it. */
const built = /[^/]+\.wasm$/;

/**
 * Every known file that these files name, directly or through others: as an import, or as the path of a file that they
 * read or run. A folder that they name as a URL counts with all its files. A path in a comment counts, too, because one
 * file too many is better than one too few.
 */
export function closureOf(root: string, starts: readonly string[], known: KnownFiles): string[] {
  const index = indexOf(known);
  const found = new Set(starts.flatMap((start) => index.get(start) ?? []));
  for (const file of found) {
    if (!code.test(file) || !existsSync(join(root, file))) continue;
    for (const named of namedIn(readFileSync(join(root, file), "utf8"), file, index)) found.add(named);
  }
  return [...found].toSorted();
}

/** Files by their path, and by the path of each folder that they are in. The root itself is not such a folder. */
function indexOf(known: KnownFiles): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, string[]>();
  for (const file of known) {
    for (let path = file; path !== "."; path = dirname(path)) {
      const files = index.get(path);
      if (files) files.push(file);
      else index.set(path, [file]);
    }
  }
  return index;
}

function* namedIn(source: string, file: string, index: ReadonlyMap<string, readonly string[]>): Generator<string> {
  const folder = dirname(file);
  for (const [, text = ""] of source.matchAll(beside)) {
    const path = tidy(join(folder, text.replace(built, "")));
    // A parent folder such as "../.." is only the beginning of other paths.
    if (path === folder || !`${folder}/`.startsWith(`${path}/`)) yield* index.get(path) ?? [];
  }
  for (const [, text = ""] of source.matchAll(named)) {
    const places = text.startsWith("#")
      ? [`src/${text.slice(1)}.ts`, `src/${text.slice(1)}.tsx`]
      : [join(folder, text), normalize(text)];
    for (const path of places) if (index.get(path)?.[0] === path) yield path;
  }
}

const tidy = (path: string): string => path.replace(/\/$/, "");
