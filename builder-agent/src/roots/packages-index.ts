import { compareVersions, fulfils } from "./deb-version.ts";
import { fieldsOf } from "../guest/host-packages.ts";

/** A package of a suite. */
export interface DebPackage {
  name: string;
  version: string;
  architecture: string;
  /** URL of the mirror. `path` is below it. */
  url: string;
  path: string;
  size: number;
  sha256: string;
  suite: string;
  /** Alternatives, the preferred one first. Includes Pre-Depends. */
  depends: Relation[][];
  provides: Relation[];
  essential: boolean;
}

export interface Relation {
  name: string;
  version?: { operator: string; than: string };
}

export interface ListOrigin {
  url: string;
  suite: string;
  only?: readonly string[] | undefined;
}

/** Packages by name. Only the newest version of a name counts. */
export class PackagesIndex {
  readonly #byName = new Map<string, DebPackage>();
  readonly #providers = new Map<string, DebPackage[]>();

  /** Adds the packages of a list `Packages`. */
  add(list: string, { url, suite, only }: ListOrigin): void {
    for (const paragraph of list.split("\n\n")) {
      const name = /^Package: (.*)$/m.exec(paragraph)?.[1];
      if (name === undefined || (only && !only.includes(name))) continue;
      const found = packageOf(name, fieldsOf(paragraph), { url, suite });
      const known = this.#byName.get(name);
      if (!known || compareVersions(found.version, known.version) > 0) this.#byName.set(name, found);
    }
    this.#providers.clear();
  }

  find(name: string): DebPackage | undefined {
    return this.#byName.get(name);
  }

  essential(): DebPackage[] {
    return [...this.#byName.values()].filter((one) => one.essential);
  }

  /** Packages with that name, or that provide it, in a suitable version. The one with that name comes first. */
  candidates(relation: Relation): DebPackage[] {
    if (this.#providers.size === 0) this.#findProviders();
    const own = this.#byName.get(relation.name);
    const providers = this.#providers.get(relation.name) ?? [];
    return [...(own ? [own] : []), ...providers].filter((one) => satisfies(one, relation));
  }

  #findProviders(): void {
    for (const one of this.#byName.values()) {
      for (const { name } of one.provides) this.#providers.set(name, [...(this.#providers.get(name) ?? []), one]);
    }
  }
}

export function satisfies(one: DebPackage, { name, version }: Relation): boolean {
  if (one.name === name) return version === undefined || fulfils(one.version, version);
  return one.provides.some(
    (each) =>
      each.name === name &&
      (version === undefined || (each.version !== undefined && fulfils(each.version.than, version))),
  );
}

function packageOf(
  name: string,
  fields: ReadonlyMap<string, string>,
  { url, suite }: { url: string; suite: string },
): DebPackage {
  const field = (key: string) => (fields.get(key) ?? "").trim();
  return {
    name,
    version: field("Version"),
    architecture: field("Architecture"),
    url,
    suite,
    path: field("Filename"),
    size: Number(field("Size")),
    sha256: field("SHA256"),
    depends: relationsOf(`${field("Pre-Depends")},${field("Depends")}`),
    provides: relationsOf(field("Provides")).flat(),
    essential: field("Essential") === "yes" || field("Priority") === "required",
  };
}

/** "a (>= 1) | b:any, c" */
const relationsOf = (text: string): Relation[][] =>
  text
    .split(",")
    .filter((each) => each.trim() !== "")
    .map((each) => each.split("|").map(relationOf));

function relationOf(text: string): Relation {
  const [, name = "", operator, than] = /^\s*([^\s:([<]+)[^(]*(?:\((<<|<=|=|>=|>>)\s*([^)\s]+)\s*\))?/.exec(text) ?? [];
  return operator === undefined || than === undefined ? { name } : { name, version: { operator, than } };
}
