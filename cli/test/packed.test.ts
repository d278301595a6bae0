import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { commands } from "../src/commands.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-packed-"));
const prefix = join(folder, "prefix");
const project = new URL("..", import.meta.url).pathname;
const npm = (...args: string[]) => execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });

beforeAll(() => {
  const [packed] = JSON.parse(npm("pack", "--json", project, "--pack-destination", folder)) as [{ filename: string }];
  npm("install", "--global", "--offline", "--prefix", prefix, join(folder, packed.filename));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("runs from its tarball, without another package and without this repository", () => {
  const run = spawnSync(join(prefix, "bin/kiln"), ["--version"], { encoding: "utf8", cwd: folder });
  expect(run).toMatchObject({ status: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

it("brings a manual with every command", () => {
  const page = execFileSync("man", ["--warnings=w", "--local-file", join(prefix, "share/man/man1/kiln.1")], {
    encoding: "utf8",
    env: { ...process.env, MANWIDTH: "200" },
  });
  for (const { words } of commands) expect(page).toMatch(new RegExp(`^       ${words.join(" ")}\\b`, "m"));
});

it("brings the licences of what it contains", () => {
  const file = join(prefix, "lib/node_modules/@kiln-build/cli/dist/LICENSES.txt");
  expect(readFileSync(file, "utf8").match(/^[\w-]+$/gm)).toEqual(Object.keys(manifest.devDependencies));
});
