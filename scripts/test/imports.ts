import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** The static imports of each file, all relative to the project's root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

// `from "x"`, `import "x"`, `import("x")`. A query such as "?raw" is not part of the file name.
const specifiers = /(?:from|import)\s*\(?\s*"([.#][^"?]*)[^"]*"/g;

export const readImports = (root: string, files: readonly string[]): Imports =>
  new Map(files.map((file) => [file, importsOf(root, file)]));

function importsOf(root: string, file: string): string[] {
  const source = readFileSync(join(root, file), "utf8");
  return [...source.matchAll(specifiers)].flatMap(([, specifier = ""]) => resolve(root, file, specifier) ?? []);
}

function resolve(root: string, file: string, specifier: string): string | undefined {
  const path = specifier.startsWith("#") ? `src/${specifier.slice(1)}` : normalize(join(dirname(file), specifier));
  return [path, `${path}.ts`, `${path}.tsx`].find((one) => /\.\w+$/.test(one) && existsSync(join(root, one)));
}
