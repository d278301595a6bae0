import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FrozenInput } from "../../builder-agent/src/contract.ts";
import { findRoot, type StoredRoot } from "../../builder-agent/src/roots/store.ts";
import { buildHere, sampleDistribution, serveFiles } from "./support/local-build.ts";
import { packZypper } from "./support/real-zypper.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// It takes a minute and a mirror of Debian to make a root. So the test uses only roots that an agent already has.
const stateDir = process.env["KILN_BUILDER_ROOTS"];

const bootstrap = ["filesystem", "bash", "busybox", "glibc", "real-zypper"];
const own = { alias: "own", id: 3, name: "Own", url: "service:/repositories/tiny/own", trust: null };

/**
 * Tiny Linux with zypper, which installs the packages that KIWI's bootstrap does not. Also a folder with its
 * repositories.
 */
async function tinyWithZypper(root: StoredRoot, dir: string): Promise<FrozenInput> {
  const zypper = await packZypper(root, dir);
  for (const name of ["main", "updates"]) {
    cpSync(join(sampleDistribution(), name), join(dir, "repositories", name), { recursive: true });
  }
  cpSync(join(dir, "own"), join(dir, "repositories/own"), { recursive: true });
  const packages = [...(await resolvedTiny(sampleDistribution())).packages, zypper];
  const input = await resolvedTiny(sampleDistribution(), { facts: { packages, bootstrap } });
  return { ...input, packages, repositories: [...input.repositories, own], rpmDatabase: "ndb" };
}

describe("a base system whose packages are in ndb", () => {
  it.for(["debian-13", "debian-sid"])("is built in %s, and its own rpm lists what it has", async (name, { skip }) => {
    const root = stateDir === undefined ? undefined : await findRoot(stateDir, name);
    if (!root) return skip(`KILN_BUILDER_ROOTS names no state directory of an agent with the builder root ${name}`);
    const dir = mkdtempSync(join(tmpdir(), "kiln-ndb-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const input = await tinyWithZypper(root, dir);
    using mirror = await serveFiles(join(dir, "repositories"), "/repositories/tiny/");
    const log: string[] = [];
    const build = { stateDir: dir, url: mirror.url, builderRoot: root, onLine: (line: string) => void log.push(line) };
    await buildHere(input, build, ({ installed }, workDir) => {
      const image = join(workDir, "root");
      expect(log.join("\n")).toMatch(/EXEC: \[chroot \S+ .*zypper .* install /);
      expect(existsSync(join(image, "var/lib/rpm/Packages.db"))).toBe(true);
      const listed = execFileSync("chroot", [image, "rpm", "--query", "--all", "--queryformat", "%{NAME}\n"]);
      const names = listed.toString().trim().split("\n").toSorted();
      expect(names).toEqual(input.packages.map((one) => one.name).toSorted());
      expect(installed.map((one) => one.name).toSorted()).toEqual(names);
    });
  });
});
