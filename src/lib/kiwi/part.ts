/**
 * The part of a KIWI description for one subject of an appliance. Pure functions create the parts, and
 * `descriptionFiles` joins them.
 */
export interface Part {
  /**
   * Texts by path in the description. Those below `root/` go into the image; a text that starts with `#!` is
   * executable.
   */
  files?: Readonly<Record<string, string>>;
  /** Commands of config.sh, which runs inside the image after its packages, files and users are installed. */
  commands?: readonly string[];
}

/**
 * The description's folder for files that config.sh uses or moves into place. config.sh deletes it from the image at
 * its end.
 */
export const staging = "root/image/kiln";
/** The path of the same folder in config.sh. */
export const staged = "/image/kiln";

/** Joins lines to the text of a file. */
export const linesOf = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

export const joinParts = (parts: readonly Part[]): Required<Part> => ({
  files: Object.assign({}, ...parts.map(({ files }) => files ?? {})) as Record<string, string>,
  commands: parts.flatMap(({ commands = [] }) => commands),
});
