import { compareDeb, compareDigits, type PackageType } from "#lib/contract/index";

export interface Evr {
  epoch: number;
  version: string;
  /** Empty if there is none. */
  release: string;
}

/** `[epoch:]version[-release]`. A version contains no dash, so the last dash begins the release. */
export function splitEvr(evr: string): Evr {
  const [, epoch = "0", version = "", release = ""] = /^(?:(\d+):)?(.*?)(?:-([^-]*))?$/.exec(evr) ?? [];
  return { epoch: Number(epoch), version, release };
}

/** The order of versions as libsolv sees it, for places without a solver: negative, zero or positive. */
export function compareEvr(type: PackageType, left: Evr, right: Evr): number {
  const byPieces = type === "deb" ? compareDeb : compareRpm;
  // Most packages of an image have no newer version, and cutting equal texts into pieces takes most of the time.
  const compare = (one: string, other: string) => (one === other ? 0 : byPieces(one, other));
  return (
    left.epoch - right.epoch ||
    compare(left.version, right.version) ||
    // Native packages of Debian have no release.
    Number(left.release !== "") - Number(right.release !== "") ||
    compare(left.release, right.release)
  );
}

/** Numbers, words, `~` and `^`. All other characters only separate them. */
const rpmPieces = /\d+|[A-Za-z]+|[~^]/g;

function compareRpm(left: string, right: string): number {
  const [ones, others] = [left.match(rpmPieces) ?? [], right.match(rpmPieces) ?? []];
  for (let at = 0; ; at++) {
    const [one, other] = [ones[at], others[at]];
    if (one === undefined && other === undefined) return 0;
    const order = compareMarks(one, other) || comparePieces(one ?? "", other ?? "");
    if (order !== 0) return order;
  }
}

/** `~` comes before the end, and `^` right after it. */
function compareMarks(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0;
  if (one === "~" || other === "~") return one === "~" ? -1 : 1;
  if (one === "^") return other === undefined ? 1 : -1;
  if (other === "^") return one === undefined ? -1 : 1;
  return 0;
}

/** The end is before everything else, and a word before a number. */
function comparePieces(one: string, other: string): number {
  const numbers = Number(isNumber(one)) - Number(isNumber(other));
  if (one === "" || other === "") return one.length - other.length;
  return numbers || (isNumber(one) ? compareDigits(one, other) : compareTexts(one, other));
}

const isNumber = (piece: string): boolean => /^\d/.test(piece);

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
