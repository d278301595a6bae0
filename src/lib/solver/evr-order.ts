import type { PackageType } from "#lib/contract/index";

export interface Evr {
  epoch: number;
  version: string;
  /** Empty if there is none. */
  release: string;
}

/** The order of versions as libsolv sees it, for places without a solver: negative, zero or positive. */
export function compareEvr(type: PackageType, left: Evr, right: Evr): number {
  const compare = type === "deb" ? compareDeb : compareRpm;
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
  return numbers || (isNumber(one) ? compareNumbers(one, other) : compareTexts(one, other));
}

const isNumber = (piece: string): boolean => /^\d/.test(piece);

/** Versions may have more digits than a number holds. */
function compareNumbers(left: string, right: string): number {
  const [one, other] = [left.replace(/^0+/, ""), right.replace(/^0+/, "")];
  return one.length - other.length || compareTexts(one, other);
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Compares non-digits and numbers in turn, as Debian's policy specifies. */
function compareDeb(left: string, right: string): number {
  const [ones, others] = [left.match(debPieces) ?? [], right.match(debPieces) ?? []];
  for (let at = 0; at < Math.max(ones.length, others.length); at++) {
    const [one, other] = [splitAtDigits(ones[at] ?? ""), splitAtDigits(others[at] ?? "")];
    const order = compareWords(one, other) || compareNumbers(one.digits, other.digits);
    if (order !== 0) return order;
  }
  return 0;
}

const debPieces = /\D*\d+|\D+/g;

interface DebPiece {
  word: string;
  digits: string;
}

function splitAtDigits(piece: string): DebPiece {
  const word = piece.replace(/\d+$/, "");
  return { word, digits: piece.slice(word.length) };
}

function compareWords(one: DebPiece, other: DebPiece): number {
  const length = Math.max(one.word.length, other.word.length);
  for (let at = 0; at <= length; at++) {
    const order = rankIn(one, at) - rankIn(other, at);
    if (order !== 0) return order;
  }
  return 0;
}

/** The order of characters: `~`, then the end, then a digit, then letters, then the rest. */
function rankIn({ word, digits }: DebPiece, at: number): number {
  const character = word[at];
  if (character === undefined) return at === word.length && digits !== "" ? 1 : 0;
  if (character === "~") return -1;
  return character.charCodeAt(0) + (/[A-Za-z]/.test(character) ? 0 : 256);
}
