/** Converts dependencies of Debian packages to rpm's form. */
import type { Comparison, Relation } from "#lib/repodata/rpm-relations";

const comparisons: Record<string, Comparison> = { "<<": "LT", "<=": "LE", "=": "EQ", ">=": "GE", ">>": "GT" };
const inRichExpressions: Record<Comparison, string> = { LT: "<", LE: "<=", EQ: "=", GE: ">=", GT: ">" };
const dependency = /^([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)?\s*(?:\(\s*(<<|<=|=|>=|>>)\s*([^)\s]+)\s*\))?/i;

/** `a (>= 1), b | c` → a ≥ 1, and the rich expression `(b or c)`. */
export function relationsIn(field: string | undefined): Relation[] {
  return clausesOf(field).flatMap((clause): Relation[] => {
    const [first, ...others] = clause.split("|").flatMap(alternative);
    if (first === undefined) return [];
    return others.length === 0 ? [first] : [{ name: `(${[first, ...others].map(richWords).join(" or ")})` }];
  });
}

/**
 * The other names that a package provides. In rpm, a capability without a version would match every versioned conflict, but in
 * Debian none. So it gets the version of the package.
 */
export const providesIn = (field: string | undefined, evr: string): Relation[] =>
  clausesOf(field)
    .flatMap(alternative)
    .map((one) => ({ comparison: "EQ", evr, ...one }));

/** Only the names, including alternatives. */
export const namesIn = (field: string | undefined): string[] =>
  clausesOf(field)
    .flatMap((clause) => clause.split("|"))
    .flatMap(alternative)
    .map(({ name }) => name);

/** `1:2.0-rc-3` → `1:2.0.rc-3`: a version may contain only one dash, the last. */
export function evrOf(version: string): string {
  const dash = version.lastIndexOf("-");
  return dash < 0 ? version : `${version.slice(0, dash).replaceAll("-", ".")}-${version.slice(dash + 1)}`;
}

const clausesOf = (field = ""): string[] => field.split(",").filter((clause) => clause.trim() !== "");

function alternative(text: string): Relation[] {
  const [, name, operator, version] = dependency.exec(text.trim()) ?? [];
  if (name === undefined) return [];
  const comparison = operator === undefined ? undefined : comparisons[operator];
  return [comparison === undefined || version === undefined ? { name } : { name, ...versioned(comparison, version) }];
}

/**
 * Without a release, rpm compares only versions. So 2.36-9 is not greater than 2.36, but in Debian it is. `2.39-.`
 * means greater than every release of 2.39.
 */
function versioned(comparison: Comparison, version: string): { comparison: Comparison; evr: string } {
  if (version.endsWith("-.")) {
    return { comparison: comparison === "LT" ? "LE" : comparison, evr: evrOf(version.slice(0, -2)) };
  }
  return { comparison: comparison === "GT" && !version.includes("-") ? "GE" : comparison, evr: evrOf(version) };
}

const richWords = ({ name, comparison, evr }: Relation): string =>
  comparison === undefined ? name : `${name} ${inRichExpressions[comparison]} ${evr}`;
