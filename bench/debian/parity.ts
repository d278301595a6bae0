/** The packages that Kiln's solver chooses, compared with apt's. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { evr } from "#lib/contract/index";
import { importedParts } from "#lib/solver/import";
import type { Job } from "#lib/solver/job";
import { openSolver, type Solver } from "#lib/solver/solver";
import { moduleFile } from "../../scripts/solver/places.ts";
import { type Figure, verdict } from "../figure.ts";
import { packageIndexes } from "../software/debian.ts";
import { median, percentile } from "../statistics.ts";
import { seededSelections } from "./selections.ts";
import { join } from "node:path";

const selections = 200;
const leastShare = 0.75;

/** `base` has the packages that each selection has in addition. */
export async function measureParity(
  { say, folder }: { say: (line: string) => void; folder: string },
  base: readonly string[],
): Promise<Figure[]> {
  const [solver, apt] = [await solverOfHost(), new EmptyApt(folder)];
  const times: number[] = [];
  let [same, installable] = [0, 0];
  for (const chosen of seededSelections(selections)) {
    const wanted = [...base, ...chosen];
    const startedAt = performance.now();
    const ours = solved(solver, wanted);
    times.push(performance.now() - startedAt);
    const theirs = apt.install(wanted);
    const isSame = !ours || !theirs ? !ours && !theirs : ours.symmetricDifference(theirs).size === 0;
    if (isSame) same++;
    else say(differenceOf(chosen, ours, theirs));
    if (isSame || (ours && apt.install([...ours])?.symmetricDifference(ours).size === 0)) installable++;
  }
  return [
    {
      what: `${selections} selections: apt installs our answer, and nothing else`,
      ours: `${installable}; ${same} are apt's own, refusals included`,
      against: "apt-get --simulate install",
      ratio: (same / selections).toFixed(2),
      bar: `all; ≥ ${leastShare} the same`,
      verdict: verdict(installable === selections && same / selections >= leastShare),
    },
    {
      what: "one selection resolved in Node, p50 and p99",
      ours: `${median(times).toFixed(0)} ms, ${percentile(times, 0.99).toFixed(0)} ms`,
      against: "",
      ratio: "",
      bar: "",
      verdict: "reported",
    },
  ];
}

/** All lists of this machine's apt, read in the same way as by an import. */
async function solverOfHost(): Promise<Solver> {
  const module = await WebAssembly.compile(readFileSync(moduleFile));
  const reader = await openSolver(module, "x86_64", "deb");
  const solver = await openSolver(module, "x86_64", "deb");
  for (const { name, file } of packageIndexes()) {
    const repository = solver.addRepository(name);
    const bytes = execFileSync("/usr/lib/apt/apt-helper", ["cat-file", file], { maxBuffer: 1 << 30 });
    for await (const part of importedParts(reader, new Blob([bytes]).stream(), "deb")) {
      repository.loadPart(part.write("solving"));
    }
  }
  solver.ready();
  return solver;
}

function solved(solver: Solver, wanted: readonly string[]): Set<string> | undefined {
  const jobs = wanted.map((name): Job => ({ kind: "install", name }));
  const resolution = solver.solve(jobs, { recommended: false });
  if (resolution.state !== "solved") return undefined;
  return new Set(resolution.packages.map((one) => `${one.name}=${evr(one)}`));
}

function differenceOf(chosen: readonly string[], ours: Set<string> | undefined, theirs: Set<string> | undefined) {
  if (!ours || !theirs) return `${chosen.join(", ")}: only ${ours ? "Kiln" : "apt"} can install it`;
  const [more, less] = [ours.difference(theirs), theirs.difference(ours)].map((names) =>
    [...names].slice(0, 6).join(" "),
  );
  return `${chosen.join(", ")}: only Kiln ${more || "-"}; only apt ${less || "-"}`;
}

/** The packages that this machine's apt would install on an empty machine. */

class EmptyApt {
  readonly #options: string[];

  /** @param folder an empty folder for the state and the cache */
  constructor(folder: string) {
    const status = join(folder, "status");
    writeFileSync(status, "");
    const options = {
      "Dir::State::status": status,
      "Dir::State::extended_states": join(folder, "extended"),
      "Dir::Cache::pkgcache": join(folder, "pkgcache.bin"),
      "Dir::Cache::srcpkgcache": join(folder, "srcpkgcache.bin"),
      "APT::Install-Recommends": "false",
      "APT::Sandbox::User": "root",
    };
    this.#options = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    // A simulation reads this cache, but does not write one.
    this.#run("apt-cache", ["gencaches"]);
  }

  /** `name=version` of all packages. Undefined if apt refuses. */
  install(wanted: readonly string[]): Set<string> | undefined {
    const { status, stdout } = this.#run("apt-get", ["--simulate", "-qq", "install", ...wanted]);
    if (status !== 0) return undefined;
    const lines = stdout.matchAll(/^Inst (\S+?)(?::\S+)? \((\S+) /gm);
    return new Set([...lines].map(([, name = "", version = ""]) => `${name}=${version}`));
  }

  #run(program: string, words: string[]) {
    return spawnSync(program, [...this.#options, ...words], { encoding: "utf8", maxBuffer: 1 << 28 });
  }
}
