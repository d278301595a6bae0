/** The reference: the packages that the real zypper would install into an empty root. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import type { RepoText } from "../solver/repo-dsl.ts";

export interface ZypperRepository {
  name: string;
  folder: string;
  priority?: number | undefined;
}

/** The request in zypper's syntax, and its bans. */
export interface ZypperRequest {
  install: string[];
  ban?: string[];
  recommended: boolean;
}

export type ZypperAnswer = { state: "solved"; packages: string[] } | { state: "unsolvable"; output: string };

const exits = { unsolvable: 4, notFound: 104 };

export class Zypper implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "kiln-zypper-"));

  /** An empty root with these repositories and nothing installed. */
  constructor(repositories: readonly ZypperRepository[]) {
    for (const { name, folder, priority = 99 } of repositories) {
      this.#run(["addrepo", "--no-gpgcheck", "--priority", String(priority), `dir://${folder}`, name]);
    }
    this.#run(["refresh"]);
  }

  resolve({ install, ban = [], recommended }: ZypperRequest): ZypperAnswer {
    if (ban.length > 0) this.#run(["addlock", ...ban]);
    const weak = recommended ? "--recommends" : "--no-recommends";
    const { status, stdout } = this.#spawn(["--no-refresh", "install", "--dry-run", weak, "--", ...install]);
    if (ban.length > 0) this.#run(["removelock", ...ban]);
    if (status === 0) return { state: "solved", packages: packagesIn(stdout) };
    if (status === exits.unsolvable || status === exits.notFound) return { state: "unsolvable", output: stdout };
    throw new Error(`zypper install failed (${status}):\n${stdout}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(args: readonly string[]): void {
    const { status, stdout } = this.#spawn(args);
    if (status !== 0) throw new Error(`zypper ${args.join(" ")} failed (${status}):\n${stdout}`);
  }

  #spawn(args: readonly string[]) {
    const always = ["--root", this.#folder, "--non-interactive", "--no-gpg-checks", "--xmlout"];
    const env = { ...process.env, LC_ALL: "C.UTF-8" };
    // Thousands of packages with descriptions take several megabytes.
    return spawnSync("zypper", [...always, ...args], { encoding: "utf8", env, maxBuffer: 64 << 20 });
  }
}

/** name-version.arch of every package that would be installed. */
function packagesIn(xml: string): string[] {
  const installed = /<to-install>(.*?)<\/to-install>/s.exec(xml)?.[1] ?? "";
  const solvables = [...installed.matchAll(/<solvable ([^>]*)>/g)].map(([, text = ""]) => attributesOf(text));
  const packages = solvables.filter(({ type }) => type === "package");
  return packages.map(({ name, edition, arch }) => `${name}-${edition}.${arch}`).toSorted();
}

const attributesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]));

/** Writes repositories of the test language as rpm-md into `folder`. */
export function written(repositories: readonly RepoText[], folder: string): ZypperRepository[] {
  return repositories.map(({ name, priority, xml }) => {
    const repodata = join(folder, name, "repodata");
    mkdirSync(repodata, { recursive: true });
    writeFileSync(join(repodata, "primary.xml"), xml);
    writeFileSync(join(repodata, "repomd.xml"), repomdOf(xml));
    return { name, folder: join(folder, name), priority };
  });
}

function repomdOf(primary: string): string {
  const sha256 = createHash("sha256").update(primary).digest("hex");
  return `<?xml version="1.0"?><repomd xmlns="http://linux.duke.edu/metadata/repo"><revision>1</revision>
    <data type="primary"><checksum type="sha256">${sha256}</checksum><location href="repodata/primary.xml"/>
    <timestamp>1</timestamp><size>${Buffer.byteLength(primary)}</size></data></repomd>`;
}
