/**
 * A small language for packages and requests, so that a case fits on a line:
 *
 *   repo("a-1.0 requires b >= 2", "b-2.1")           solve(repo, ["a"]) → ["a-1.0", "b-2.1"]
 *
 * A package: name-[epoch:]version[-release][.arch], then any of `requires`, `provides`, `conflicts`, `obsoletes`,
 * `recommends`, `suggests`, `supplements`, `enhances`, `files`, each with a comma-separated list, and `vendor`.
 * The default release is 1 and the default architecture x86_64; answers omit these defaults.
 *
 * A request: `a`, `a = 1.0-1`, `a from updates`, `pattern base`, `ban a`, `multiversion kernel()`.
 */
import type { Job } from "#lib/solver/job";
import type { Package } from "#lib/solver/package";
import type { Resolution } from "#lib/solver/resolution";
import { openSolver, type Solver, type SolveOptions } from "#lib/solver/solver";

export interface RepoText {
  name: string;
  priority: number | undefined;
  xml: string;
}

export function repo(...packages: string[]): RepoText {
  return named("main", {}, ...packages);
}

export function named(name: string, { priority }: { priority?: number }, ...packages: string[]): RepoText {
  return { name, priority, xml: primaryXmlOf(packages) };
}

export type Repos = RepoText | RepoText[];

/** Returns a solver that has loaded the repositories and is ready. */
export async function loaded(module: WebAssembly.Module, repos: Repos): Promise<Solver> {
  const solver = await openSolver(module);
  for (const { name, priority, xml } of [repos].flat()) {
    const repository = solver.addRepository(name, priority === undefined ? {} : { priority });
    repository.readPrimary(new TextEncoder().encode(xml));
    repository.finish();
  }
  solver.ready();
  return solver;
}

export function solving(module: WebAssembly.Module) {
  const ask = async (repos: Repos, request: string[], options?: SolveOptions): Promise<Resolution> =>
    (await loaded(module, repos)).solve(request.map(jobOf), options);
  return {
    ask,
    /** The packages to install, in the language above. */
    async solve(repos: Repos, request: string[], options?: SolveOptions): Promise<string[]> {
      const resolution = await ask(repos, request, options);
      if (resolution.state === "unsolvable") throw new Error(resolution.problems.map(({ text }) => text).join("; "));
      return resolution.packages.map(shown);
    },
    /** The problems, if there is no solution. */
    async complaint(repos: Repos, request: string[]): Promise<string> {
      const resolution = await ask(repos, request);
      if (resolution.state === "solved") throw new Error(`solved: ${resolution.packages.map(shown).join(" ")}`);
      return resolution.problems.map(({ text }) => text).join("; ");
    },
  };
}

export function jobOf(text: string): Job {
  const [word = "", ...rest] = text.split(" ");
  if (word === "pattern") return { kind: "installPattern", name: rest.join(" ") };
  if (word === "ban") return { kind: "ban", name: rest.join(" ") };
  if (word === "multiversion") return { kind: "multiversion", capability: rest.join(" ") };
  const [, name = text, version, repository] = /^(\S+)(?: = (\S+))?(?: from (\S+))?$/.exec(text) ?? [];
  return { kind: "install", name, version, repository };
}

export function shown({ name, epoch, version, release, arch }: Package): string {
  const parts = [name, "-", epoch > 0 && `${epoch}:`, version, release !== "1" && `-${release}`];
  return [...parts, arch !== "x86_64" && `.${arch}`].filter(Boolean).join("");
}

export function primaryXmlOf(packages: string[]): string {
  const namespaces = `xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm"`;
  const elements = packages.map(packageElement).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<metadata ${namespaces} packages="${packages.length}">\n${elements}\n</metadata>\n`;
}

const kinds = ["requires", "provides", "conflicts", "obsoletes", "recommends", "suggests", "supplements", "enhances"];
const clause = new RegExp(` (?=(?:${[...kinds, "files", "vendor"].join("|")}) )`);
const nevraPattern =
  /^(?<name>.+?)-(?:(?<epoch>\d+):)?(?<version>\d[^-]*?)(?:-(?<release>[^-]+?))?(?:\.(?<arch>x86_64|i[56]86|aarch64|noarch|src))?$/;

function packageElement(text: string): string {
  const [nevra = "", ...clauses] = text.split(clause);
  const {
    name = "",
    epoch = "0",
    version = "",
    release = "1",
    arch = "x86_64",
  } = nevraPattern.exec(nevra)?.groups ?? {};
  if (!name) throw new Error(`not a package: ${text}`);
  const lists = new Map(clauses.map((words) => [words.slice(0, words.indexOf(" ")), listOf(words)]));
  const provides = [`${name} = ${epoch}:${version}-${release}`, ...(lists.get("provides") ?? [])];
  const dependencies = kinds.map((kind) => dependencyElement(kind, kind === "provides" ? provides : lists.get(kind)));
  const files = (lists.get("files") ?? []).map((file) => `<file>${escaped(file)}</file>`);
  const vendor = (lists.get("vendor") ?? ["Kiln"]).join();
  return [
    `<package type="rpm"><name>${name}</name><arch>${arch}</arch>`,
    `<version epoch="${epoch}" ver="${version}" rel="${release}"/>`,
    `<checksum type="sha256" pkgid="YES">${"0".repeat(64)}</checksum>`,
    `<summary>Summary of ${name}</summary><description>What ${name} does</description>`,
    `<size package="10" installed="20" archive="1"/><location href="${nevra}.rpm"/>`,
    `<format><rpm:license>MIT</rpm:license><rpm:vendor>${vendor}</rpm:vendor>`,
    ...dependencies,
    ...files,
    `</format></package>`,
  ].join("");
}

const listOf = (words: string): string[] => words.slice(words.indexOf(" ") + 1).split(", ");

function dependencyElement(kind: string, list: string[] | undefined): string {
  return list ? `<rpm:${kind}>${list.map(entryElement).join("")}</rpm:${kind}>` : "";
}

const flags: Record<string, string> = { "<": "LT", ">": "GT", "=": "EQ", "<=": "LE", ">=": "GE" };

function entryElement(dependency: string): string {
  const versioned = /^(\S+) (<=|>=|=|<|>) (?:(\d+):)?([^\s-]+)(?:-(\S+))?$/.exec(dependency);
  if (!versioned || dependency.startsWith("(")) return `<rpm:entry name="${escaped(dependency)}"/>`;
  const [, name = "", operator = "", epoch = "0", version, release] = versioned;
  const rel = release ? ` rel="${release}"` : "";
  return `<rpm:entry name="${escaped(name)}" flags="${flags[operator]}" epoch="${epoch}" ver="${version}"${rel}/>`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
