import { type RpmSection, malformed } from "./rpm-section.ts";

export interface RpmFile {
  path: string;
  /** A ghost belongs to the package but is not in it, such as a log or a cache. */
  type: "file" | "dir" | "ghost";
}

const tags = {
  oldFileNames: 1027,
  modes: 1030,
  flags: 1037,
  dirIndexes: 1116,
  baseNames: 1117,
  dirNames: 1118,
} as const;
const fileTypeMask = 0o170000;
const directory = 0o040000;
const ghostFlag = 1 << 6;
const maxPathLength = 4096; // as in Linux

/** Reads the file list: base names, each with the number of its folder. */
export function readFiles(main: RpmSection): RpmFile[] {
  const paths = main.has(tags.baseNames) ? joinedPaths(main) : main.texts(tags.oldFileNames);
  const [modes, flags] = [main.numbers(tags.modes), main.numbers(tags.flags)];
  if (paths.length > 0 && (modes.length !== paths.length || flags.length !== paths.length)) {
    throw malformed(`${paths.length} files with ${modes.length} modes and ${flags.length} flags`);
  }
  return paths.map((path, index) => ({ path, type: fileType(modes[index] ?? 0, flags[index] ?? 0) }));
}

function joinedPaths(main: RpmSection): string[] {
  const [directories, indexes, names] = [
    main.texts(tags.dirNames),
    main.numbers(tags.dirIndexes),
    main.texts(tags.baseNames),
  ];
  if (indexes.length !== names.length) throw malformed(`${names.length} files in ${indexes.length} folders`);
  return names.map((name, index) => {
    const folder = directories[indexes[index] ?? -1];
    if (folder === undefined) throw malformed(`file ${index} has no folder`);
    if (folder.length + name.length > maxPathLength)
      throw malformed(`file ${index} has a path of more than ${maxPathLength} characters`);
    return folder + name;
  });
}

function fileType(mode: number, flags: number): RpmFile["type"] {
  if ((mode & fileTypeMask) === directory) return "dir";
  return (flags & ghostFlag) !== 0 ? "ghost" : "file";
}
