import { readFileSync } from "node:fs";

/** An installed package in dpkg's database. */
export interface HostPackage {
  name: string;
  version: string;
  architecture: string;
  /** Alternatives by name, the preferred one first. Includes Pre-Depends. */
  depends: string[][];
  provides: string[];
  essential: boolean;
  /** Configuration files and their MD5 at installation. */
  conffiles: ReadonlyMap<string, string>;
}

export const dpkgDir = "/var/lib/dpkg";

/** Installed packages by name. If a name is installed for two architectures, the first one counts. */
export function installedPackages(status = readFileSync(`${dpkgDir}/status`, "utf8")): Map<string, HostPackage> {
  const found = new Map<string, HostPackage>();
  for (const paragraph of status.split("\n\n")) {
    const fields = fieldsOf(paragraph);
    const name = fields.get("Package");
    if (name === undefined || found.has(name) || !/\binstalled$/.test(fields.get("Status") ?? "")) continue;
    found.set(name, {
      name,
      version: fields.get("Version") ?? "",
      architecture: fields.get("Architecture") ?? "",
      depends: alternatives(`${fields.get("Pre-Depends") ?? ""},${fields.get("Depends") ?? ""}`),
      provides: alternatives(fields.get("Provides") ?? "").flat(),
      essential: fields.get("Essential") === "yes" || fields.get("Priority") === "required",
      conffiles: conffilesOf(fields.get("Conffiles") ?? ""),
    });
  }
  return found;
}

/**
 * The named packages, all essential ones, and everything that they depend on. `missing`: names that are not installed.
 */
export function closureOf(
  wanted: readonly string[],
  installed: ReadonlyMap<string, HostPackage>,
): { packages: HostPackage[]; missing: string[] } {
  const providers = new Map<string, string>();
  for (const { name, provides } of installed.values()) for (const each of provides) providers.set(each, name);
  const find = (name: string) => installed.get(name) ?? installed.get(providers.get(name) ?? "");
  const essential = [...installed.values()].filter((each) => each.essential).map((each) => each.name);
  const waiting = [...wanted, ...essential].map((name) => find(name)).filter((each) => each !== undefined);
  const chosen = new Set<HostPackage>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (chosen.has(next)) continue;
    chosen.add(next);
    for (const names of next.depends) {
      const satisfied = names.map(find).find((each) => each !== undefined);
      if (satisfied) waiting.push(satisfied);
    }
  }
  const packages = [...chosen].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { packages, missing: wanted.filter((name) => find(name) === undefined) };
}

/** The fields of a paragraph of dpkg's status or of `Packages`. */
export function fieldsOf(paragraph: string): Map<string, string> {
  const fields = paragraph.split(/\n(?=[^ \t])/).map((field) => /^([\w-]+):\s*([^]*)$/.exec(field));
  return new Map(fields.flatMap((found) => (found ? [[found[1] ?? "", found[2] ?? ""]] : [])));
}

/** "a (>= 1) | b:any, c" → [["a", "b"], ["c"]]. */
const alternatives = (text: string): string[][] =>
  text
    .split(",")
    .map((each) => each.split("|").map((name) => name.replace(/\(.*?\)|:\w+|\[.*?\]/g, "").trim()))
    .filter(([first]) => first !== undefined && first !== "");

/** Lines ` /etc/file MD5`, sometimes followed by `obsolete`. */
const conffilesOf = (text: string): Map<string, string> =>
  new Map(
    text.split("\n").flatMap((line) => {
      const [path = "", md5 = ""] = line.trim().split(" ");
      return path.startsWith("/") ? [[path, md5] as const] : [];
    }),
  );
