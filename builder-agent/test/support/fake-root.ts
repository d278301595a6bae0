import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packages from "../../src/doctor/packages.json" with { type: "json" };
import type { RootFacts } from "../../src/roots/store.ts";

/** A builder root with facts, but its file is not a squashfs. */
export function storeFakeRoot(
  stateDir: string,
  { name, sha256, ...more }: { name: string; sha256: string } & Partial<RootFacts>,
): string {
  const facts: RootFacts = {
    formatVersion: 1,
    name,
    title: name,
    builder: "9.24.56",
    kernel: "6.1",
    releases: [],
    packages: [],
    ...more,
  };
  const dir = join(stateDir, "roots", sha256);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "root.squashfs"), "none");
  writeFileSync(join(dir, "root.json"), JSON.stringify(facts));
  return join(dir, "root.squashfs");
}

/** Stores a root with a KIWI that can be run, and a package list that has all tools except these. */
export function storeAnsweringRoot(
  stateDir: string,
  name: string,
  { without = [], kiwi }: { without?: readonly string[]; kiwi?: string } = {},
): void {
  mkdirSync(stateDir, { recursive: true });
  const { file } = smallRoot(stateDir, { "kiwi-ng": kiwi ?? "echo KIWI 9.24.56" });
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  const names = [...new Set(packages.map(({ debian }) => debian))].filter((each) => !without.includes(each));
  const listed = names.map((each) => ({ name: each, version: "1", architecture: "amd64", sha256, suite: "small" }));
  renameSync(file, storeFakeRoot(stateDir, { name, sha256, packages: listed }));
}

/** A squashfs with busybox and these scripts, by the name of the program that they replace. */
export function smallRoot(dir: string, scripts: Record<string, string> = {}): { file: string } {
  const tree = join(dir, "tree");
  for (const name of ["bin", "proc", "sys", "dev", "run", "tmp", "var/tmp", "etc"])
    mkdirSync(join(tree, name), { recursive: true });
  cpSync("/bin/busybox", join(tree, "bin/busybox"), { dereference: true });
  for (const name of ["umount", "env", "sh"]) symlinkSync("busybox", join(tree, "bin", name));
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(tree, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(tree, "etc/name"), "builder");
  const file = join(dir, "root.squashfs");
  rmSync(file, { force: true });
  execFileSync("mksquashfs", [tree, file, "-quiet", "-no-progress", "-all-root"], { stdio: "ignore" });
  rmSync(tree, { recursive: true });
  return { file };
}
