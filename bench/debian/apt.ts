/** The packages that this machine's apt would install on an empty machine. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export class EmptyApt {
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
