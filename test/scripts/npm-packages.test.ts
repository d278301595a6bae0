import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isInstalled } from "../../scripts/bootstrap/npm-packages.mjs";
import { emptyFolder } from "./folder.ts";

const lockOf = (packages: Record<string, { version: string; optional?: boolean }>) =>
  JSON.stringify({
    name: "project",
    version: "1.0.0",
    lockfileVersion: 3,
    packages: { "": { name: "project" }, ...packages },
  });
const a1 = { "node_modules/a": { version: "1.0.0" } };
const a2 = { "node_modules/a": { version: "2.0.0" } };

function project(packages: Parameters<typeof lockOf>[0]): string {
  const root = emptyFolder();
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "project", version: "1.0.0" }));
  writeFileSync(join(root, "package-lock.json"), lockOf(packages));
  return root;
}

/** The files that a manual `npm ci` leaves. */
function installByHand(root: string, packages: Parameters<typeof lockOf>[0]): void {
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(join(root, "node_modules/.package-lock.json"), JSON.stringify({ packages }));
}

/** Installs in the same way as npm start, in a small project. */
function prepare(root: string) {
  const module = join(import.meta.dirname, "../../scripts/bootstrap/npm-packages.mjs");
  const script = `import { prepareNpmPackages } from ${JSON.stringify(module)}; await prepareNpmPackages(process.cwd());`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, encoding: "utf8" });
}

describe("isInstalled", () => {
  it("is false without node_modules or without an install's trace", () => {
    const root = project(a1);
    expect(isInstalled(root)).toBe(false);
    mkdirSync(join(root, "node_modules"));
    expect(isInstalled(root)).toBe(false);
  });

  it("accepts a manual install", () => {
    const root = project(a1);
    installByHand(root, a1);
    expect(isInstalled(root)).toBe(true);
  });

  it("is false if the lock file has another version", () => {
    const root = project(a1);
    installByHand(root, a1);
    isInstalled(root);
    writeFileSync(join(root, "package-lock.json"), lockOf(a2));
    expect(isInstalled(root)).toBe(false);
  });

  it("ignores packages for other systems", () => {
    const root = project({ ...a1, "node_modules/other-system": { version: "1.0.0", optional: true } });
    installByHand(root, a1);
    expect(isInstalled(root)).toBe(true);
  });
});

describe("prepareNpmPackages", () => {
  it("installs once, and again when the lock file has changed", () => {
    const root = emptyFolder();
    needs(root, ["a"]);
    expect(prepare(root)).toMatchObject({ status: 0, stdout: expect.stringContaining("Installed npm packages") });
    expect(prepare(root)).toMatchObject({ status: 0, stdout: "" });
    needs(root, ["a", "b"]);
    expect(prepare(root)).toMatchObject({ status: 0, stdout: expect.stringContaining("Installed npm packages") });
    expect(existsSync(join(root, "node_modules/b/package.json"))).toBe(true);
  });

  it("fails with npm's message, and leaves no stamp", () => {
    const root = emptyFolder();
    needs(root, ["a"]);
    writeFileSync(join(root, "package.json"), JSON.stringify({ name: "project", dependencies: { other: "1.0.0" } }));
    const prepared = prepare(root);
    expect(prepared.status).toBe(1);
    expect(prepared.stderr).toMatch(/npm ci failed \(exit 1\):\n.*package-lock\.json/s);
    expect(existsSync(join(root, "node_modules/.kiln-lock"))).toBe(false);
  });
});

/** Makes local packages its dependencies, so that a real `npm ci` needs no network. */
function needs(root: string, names: string[]): void {
  const dependencies = Object.fromEntries(names.map((name) => [name, `file:${name}`]));
  for (const name of names) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  }
  const project = { name: "project", version: "1.0.0", dependencies };
  const folders = names.map((name) => [name, { version: "1.0.0" }]);
  const links = names.map((name) => [`node_modules/${name}`, { resolved: name, link: true }]);
  const packages = { "": project, ...Object.fromEntries([...folders, ...links]) };
  writeFileSync(join(root, "package.json"), JSON.stringify(project));
  const lock = { name: "project", version: "1.0.0", lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(root, "package-lock.json"), JSON.stringify(lock));
}
