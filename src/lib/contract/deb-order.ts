/** Debian's order of versions, for places without a solver. */

/** Compares numbers that may have more digits than a `number` holds. */
export function compareDigits(left: string, right: string): number {
  const [one, other] = [left.replace(/^0+/, ""), right.replace(/^0+/, "")];
  return one.length - other.length || (one < other ? -1 : Number(one > other));
}

/** Compares two upstream versions or two revisions: words and numbers in turn, as Debian's policy specifies. */
export function compareDeb(left: string, right: string): number {
  const [ones, others] = [left.match(debPieces) ?? [], right.match(debPieces) ?? []];
  for (let at = 0; at < Math.max(ones.length, others.length); at++) {
    const [one, other] = [splitAtDigits(ones[at] ?? ""), splitAtDigits(others[at] ?? "")];
    const order = compareWords(one, other) || compareDigits(one.digits, other.digits);
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
