/**
 * What one subject of an appliance adds to the KIWI description. Parts are made by pure functions, and put together by
 * `descriptionFiles`.
 */
export interface Part {
  /** Texts by their path in the description: below `root/` they come into the image, with `#!` in front executable. */
  files?: Readonly<Record<string, string>>;
  /** Commands of config.sh, which runs inside the image when its packages, files and users are there. */
  commands?: readonly string[];
}

/** Where the description lays what config.sh puts in its place, or uses; gone from the image at config.sh's end. */
export const staging = "root/image/kiln";
/** The same, as config.sh sees it. */
export const staged = "/image/kiln";

/** As a file of lines. */
export const linesOf = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

export const joinParts = (parts: readonly Part[]): Required<Part> => ({
  files: Object.assign({}, ...parts.map(({ files }) => files ?? {})) as Record<string, string>,
  commands: parts.flatMap(({ commands = [] }) => commands),
});
