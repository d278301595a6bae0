import { Refusal } from "#domain/refusal";

/** The path of a file in the image, and its owner and mode. */
export interface FileMetadata {
  /** The name without its directory. */
  fileName: string;
  /** The directory of the file, absolute and normalised. */
  path: string;
  owner: string;
  group: string;
  /** The mode bits, e.g. 0o644. */
  permissions: number;
  /** Whether builds include the file. */
  enabled: boolean;
}

/** The defaults (compatibility.md, "Overlay files"). */
const defaultMetadata = {
  path: "/",
  owner: "nobody",
  group: "nobody",
  permissions: 0o644,
  enabled: true,
} satisfies Omit<FileMetadata, "fileName">;

export const metadataNames = ["filename", "path", "owner", "group", "permissions", "enabled"] as const;
export type GivenMetadata = Partial<Record<(typeof metadataNames)[number], string>>;

const longestName = 255; // bytes, NAME_MAX of Linux
const longestPath = 4095; // bytes, PATH_MAX of Linux without its NUL
const bytesOf = (text: string) => new TextEncoder().encode(text).byteLength;
/** Control characters, characters that are invalid in XML or UTF-8, and the replacement character for invalid UTF-8. */
const unfit = /[\u0000-\u001f\u007f\ufffd-\uffff]|\p{Surrogate}/u;

/**
 * The complete metadata of a new file.
 *
 * @param sentName the file's name at its source, perhaps with directories; used if the client gives no name
 */
export function parseMetadata(given: GivenMetadata, sentName: string | undefined): FileMetadata {
  const filename = given.filename ?? sentName?.replace(/^.*[/\\]/s, "");
  if (!filename) throw new Refusal("missing_parameter", { message: "The parameter filename is missing." });
  const metadata = { ...defaultMetadata, ...parseChanges(given), fileName: parseFileName(filename) };
  overlayPath(metadata);
  return metadata;
}

/** Those parts of the metadata that are given. */
export function parseChanges(given: GivenMetadata): Partial<FileMetadata> {
  const { filename, path, owner, group, permissions, enabled } = given;
  return {
    ...(filename === undefined ? {} : { fileName: parseFileName(filename) }),
    ...(path === undefined ? {} : { path: parsePath(path) }),
    ...(owner === undefined ? {} : { owner: parseOwner("owner", owner) }),
    ...(group === undefined ? {} : { group: parseOwner("group", group) }),
    ...(permissions === undefined ? {} : { permissions: parsePermissions(permissions) }),
    ...(enabled === undefined ? {} : { enabled: parseEnabled(enabled) }),
  };
}

/** The name of a file without its directory. */
function parseFileName(text: string): string {
  if (/\//.test(text)) throw refused("filename", "must not contain a directory: put it in path");
  if (text === "" || text === "." || text === "..") throw refused("filename", "must be the name of a file");
  if (unfit.test(text)) throw refused("filename", "must not contain control characters");
  if (bytesOf(text) > longestName) throw refused("filename", `must have at most ${longestName} bytes`);
  return text;
}

/** A directory in the image: absolute, without `.` and double slashes. `..` is always refused. */
function parsePath(text: string): string {
  const segments = text.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refused("path", "must be a directory of the image, without ..");
  if (unfit.test(text)) throw refused("path", "must not contain control characters");
  if (segments.some((segment) => bytesOf(segment) > longestName)) {
    throw refused("path", `must have directories of at most ${longestName} bytes`);
  }
  return `/${segments.join("/")}`;
}

/** The full path of the file in the image. */
export function overlayPath({ path, fileName }: Pick<FileMetadata, "path" | "fileName">): string {
  const whole = `${path === "/" ? "" : path}/${fileName}`;
  if (bytesOf(whole) > longestPath)
    throw refused("path", `and filename together must have at most ${longestPath} bytes`);
  return whole;
}

/** A user or a group of the image: a name that useradd accepts, or a number. */
function parseOwner(name: "owner" | "group", text: string): string {
  const isNumber = /^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1; // the highest number means "leave unchanged"
  if (isNumber || /^[a-z_][a-z0-9_.-]{0,30}[$a-z0-9_.-]?$/i.test(text)) return text;
  throw refused(name, "must be a name of letters, digits, dots, dashes and underscores, or a number");
}

/** The mode bits of `644`, `0755` or `04755`, and of the notations of ls and chmod: `rwxr-xr-x`, `u=rw,go=r`. */
function parsePermissions(text: string): number {
  if (/^0{0,2}[0-7]{3,4}$/.test(text)) return Number.parseInt(text, 8);
  const bits = bitsOfListing(text) ?? bitsOfClauses(text);
  if (bits === undefined) throw refused("permissions", "must be octal, e.g. 644, or as ls shows them, e.g. rw-r--r--");
  return bits;
}

function parseEnabled(text: string): boolean {
  if (!/^(true|false|1|0)$/i.test(text)) throw refused("enabled", "must be true or false");
  return /^(true|1)$/i.test(text);
}

function bitsOfListing(text: string): number | undefined {
  const listing = /^-?([r-][w-][xsS-])([r-][w-][xsS-])([r-][w-][xtT-])$/.exec(text);
  if (!listing) return undefined;
  const triples = listing.slice(1);
  const special = triples.map((triple) => Number(/[sStT]$/.test(triple))).join("");
  const digits = triples.map((triple) => [...triple].map((flag) => Number(!/[-ST]/.test(flag))).join(""));
  return Number.parseInt(`${special}${digits.join("")}`, 2);
}

const places: Record<string, number> = { u: 6, g: 3, o: 0 };
const flags: Record<string, number> = { r: 4, w: 2, x: 1 };

/** The mode bits of `u=rwx,go=rx`. Only complete modes are valid, because there is no mode to change. */
function bitsOfClauses(text: string): number | undefined {
  if (!/^[ugoa]*=[rwxst]*(,[ugoa]*=[rwxst]*)*$/.test(text)) return undefined;
  let mode = 0;
  for (const clause of text.split(",")) {
    const [who = "", what = ""] = clause.split("=");
    const whom = who === "" || who.includes("a") ? "ugo" : who;
    for (const one of new Set(whom)) mode = withTriple(mode, one, what);
  }
  return mode;
}

function withTriple(mode: number, whom: string, what: string): number {
  const shift = places[whom] ?? 0;
  const special = { u: 0o4000, g: 0o2000, o: 0o1000 }[whom] ?? 0;
  const isSpecial = what.includes(whom === "o" ? "t" : "s");
  const triple = [...new Set(what)].reduce((bits, flag) => bits | (flags[flag] ?? 0), 0);
  return (mode & ~(7 << shift) & ~special) | (triple << shift) | (isSpecial ? special : 0);
}

const refused = (name: string, rule: string) => new Refusal("invalid_value", { message: `${name} ${rule}.` });
