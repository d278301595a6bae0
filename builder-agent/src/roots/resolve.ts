import { RootFault } from "./definition.ts";
import { satisfies, type DebPackage, type PackagesIndex, type Relation } from "./packages-index.ts";

/**
 * The named packages, all essential ones, and everything that they depend on. It takes the first alternative that
 * exists, unless another one is already chosen. `missing` lists the names that no suite has.
 *
 * @throws RootFault if a dependency cannot be satisfied
 */
export function resolveRoot(
  wanted: readonly string[],
  index: PackagesIndex,
): { packages: DebPackage[]; missing: string[] } {
  const found = wanted.map((name) => [name, index.find(name)] as const);
  const chosen = new Map<string, DebPackage>();
  const waiting: DebPackage[] = [];
  const choose = (one: DebPackage) => {
    if (chosen.has(one.name)) return;
    chosen.set(one.name, one);
    waiting.push(one);
  };
  for (const [, one] of found) if (one) choose(one);
  for (const one of index.essential()) choose(one);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const alternatives of next.depends) {
      if (alternatives.some((relation) => isChosen(relation, chosen))) continue;
      const [first] = alternatives.flatMap((relation) => index.candidates(relation));
      if (!first) throw new RootFault(`The package ${next.name} needs ${said(alternatives)}, which no suite has.`);
      choose(first);
    }
  }
  const packages = [...chosen.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { packages, missing: found.flatMap(([name, one]) => (one ? [] : [name])) };
}

function isChosen(relation: Relation, chosen: ReadonlyMap<string, DebPackage>): boolean {
  const own = chosen.get(relation.name);
  if (own && satisfies(own, relation)) return true;
  return [...chosen.values()].some((one) => satisfies(one, relation));
}

const said = (alternatives: readonly Relation[]): string =>
  alternatives
    .map(({ name, version }) => (version ? `${name} (${version.operator} ${version.than})` : name))
    .join(" or ");
