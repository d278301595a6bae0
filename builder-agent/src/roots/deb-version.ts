/** Compares versions like dpkg (deb-version(7)). → negative, 0 or positive */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [partsOf(a), partsOf(b)];
  return (
    first.epoch - second.epoch ||
    compareParts(first.upstream, second.upstream) ||
    compareParts(first.revision, second.revision)
  );
}

/** Whether a version fulfils a relation, e.g. `>=` and `1.2-3`. */
export function fulfils(version: string, { operator, than }: { operator: string; than: string }): boolean {
  const order = compareVersions(version, than);
  switch (operator) {
    case "<<":
      return order < 0;
    case "<=":
      return order <= 0;
    case "=":
      return order === 0;
    case ">=":
      return order >= 0;
    default:
      return order > 0;
  }
}

function partsOf(version: string): { epoch: number; upstream: string; revision: string } {
  const [, epoch = "0", rest = ""] = /^(?:(\d+):)?(.*)$/.exec(version) ?? [];
  const dash = rest.lastIndexOf("-");
  if (dash === -1) return { epoch: Number(epoch), upstream: rest, revision: "" };
  return { epoch: Number(epoch), upstream: rest.slice(0, dash), revision: rest.slice(dash + 1) };
}

/** Compares words and numbers alternately. */
function compareParts(a: string, b: string): number {
  let [left, right] = [a, b];
  while (left !== "" || right !== "") {
    const [first, second] = [beginOf(left), beginOf(right)];
    const order = compareWords(first.word, second.word) || compareNumbers(first.number, second.number);
    if (order !== 0) return order;
    [left, right] = [first.rest, second.rest];
  }
  return 0;
}

function beginOf(text: string): { word: string; number: bigint; rest: string } {
  const [, word = "", number = "", rest = ""] = /^(\D*)(\d*)(.*)$/.exec(text) ?? [];
  return { word, number: BigInt(number || 0), rest };
}

const compareNumbers = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

function compareWords(a: string, b: string): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = weightOf(a[at]) - weightOf(b[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/** A tilde sorts before the end, and letters before all other characters. */
function weightOf(character: string | undefined): number {
  if (character === undefined) return 0;
  if (character === "~") return -1;
  return /[A-Za-z]/.test(character) ? character.charCodeAt(0) : character.charCodeAt(0) + 256;
}
