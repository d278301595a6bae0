/** Runs the real zypper on a separate root. Returns its answers, and their times with a warm cache. */
import { execFile } from "node:child_process";

export interface Timed<T> {
  ms: number;
  value: T;
}

const maxBytes = 256 << 20;
const exits = { fine: 0, unsolvable: 4, nothingFound: 104 };

export class ZypperRoot {
  readonly #folder: string;

  /** @param folder an empty folder, which the caller removes */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds repositories and fills the cache with them. */
  async addRepositories(urls: readonly { name: string; url: string }[]): Promise<void> {
    for (const { name, url } of urls) await this.#must(["addrepo", "--no-gpgcheck", url, name]);
    await this.#must(["refresh"]);
  }

  /** name-version-release.arch of all packages that would be installed. Undefined if the selection does not resolve. */
  async install(names: readonly string[]): Promise<Timed<Set<string> | undefined>> {
    const { ms, value } = await this.#run(["install", "--dry-run", "--no-recommends", "--", ...names]);
    if (value.exit === exits.unsolvable) return { ms, value: undefined };
    if (value.exit !== exits.fine) throw new Error(`zypper install ended with ${value.exit}:\n${value.stdout}`);
    const [, list = ""] = /<to-install>(.*?)<\/to-install>/s.exec(value.stdout) ?? [];
    const packages = elements(list).filter(({ type }) => type === "package");
    return { ms, value: new Set(packages.map(({ name, edition = "", arch }) => `${name}-${bare(edition)}.${arch}`)) };
  }

  /** The names of packages that contain the text. */
  async search(text: string): Promise<Timed<Set<string>>> {
    const { ms, value } = await this.#run(["search", "--", text]);
    if (value.exit !== exits.fine && value.exit !== exits.nothingFound) {
      throw new Error(`zypper search ended with ${value.exit}:\n${value.stdout}`);
    }
    const packages = elements(value.stdout).filter(({ kind }) => kind === "package");
    return { ms, value: new Set(packages.flatMap(({ name }) => name ?? [])) };
  }

  async #must(args: readonly string[]): Promise<void> {
    const { value } = await this.#run(args);
    if (value.exit !== exits.fine)
      throw new Error(`zypper ${args.join(" ")} ended with ${value.exit}:\n${value.stdout}`);
  }

  #run(args: readonly string[]): Promise<Timed<{ exit: number; stdout: string }>> {
    const refresh = args[0] === "refresh" ? [] : ["--no-refresh"];
    const always = ["--root", this.#folder, "--non-interactive", "--no-gpg-checks", "--xmlout", ...refresh];
    const options = { env: { ...process.env, LC_ALL: "C.UTF-8" }, maxBuffer: maxBytes };
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      execFile("zypper", [...always, ...args], options, (error, stdout) => {
        const exit = error?.code ?? exits.fine;
        if (typeof exit === "number") resolve({ ms: performance.now() - startedAt, value: { exit, stdout } });
        else reject(error ?? new Error(`zypper: ${exit}`));
      });
    });
  }
}

/** Kiln's answers have no epochs. */
const bare = (edition: string) => edition.replace(/^\d+:/, "");

const elements = (xml: string): Record<string, string>[] =>
  [...xml.matchAll(/<solvable ([^>]*)>/g)].map(([, text = ""]) =>
    Object.fromEntries([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value])),
  );
