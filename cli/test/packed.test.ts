import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import schema from "../src/appliance-file/schema.json" with { type: "json" };
import { commands } from "../src/commands.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-packed-"));
const prefix = join(folder, "prefix");
const project = new URL("..", import.meta.url).pathname;
/** The client for testing `kiln mcp`. */
const onlyTested = "@modelcontextprotocol/client";
const npm = (...args: string[]) => execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });

beforeAll(() => {
  const [packed] = JSON.parse(npm("pack", "--json", project, "--pack-destination", folder)) as [{ filename: string }];
  npm("install", "--global", "--offline", "--prefix", prefix, join(folder, packed.filename));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every Node in the PATH. */
const nodes = (process.env["PATH"] ?? "")
  .split(":")
  .map((one) => join(one, "node"))
  .filter((one) => existsSync(one));

it("runs from its tarball with each Node of the machine, without another package and without this repository", () => {
  for (const node of new Set(nodes)) {
    const run = spawnSync(node, [join(prefix, "bin/kiln"), "--version"], { encoding: "utf8", cwd: folder });
    expect(run, node).toMatchObject({ status: 0, stdout: `${manifest.version}\n`, stderr: "" });
  }
});

it("brings a manual with every command", () => {
  const page = execFileSync("man", ["--warnings=w", "--local-file", join(prefix, "share/man/man1/kiln.1")], {
    encoding: "utf8",
    env: { ...process.env, MANWIDTH: "200" },
  });
  for (const { words } of commands) expect(page).toMatch(new RegExp(`^       ${words.join(" ")}\\b`, "m"));
});

it("brings the schema of appliance.yaml", () => {
  const file = join(prefix, "lib/node_modules/@kiln-build/cli/dist/appliance.schema.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(schema);
});

it("brings the licences of what it contains", () => {
  const file = join(prefix, "lib/node_modules/@kiln-build/cli/dist/LICENSES.txt");
  const names = readFileSync(file, "utf8").match(/^(@[\w-]+\/)?[\w-]+$/gm);
  const bundled = Object.keys(manifest.devDependencies).filter((name) => name !== onlyTested);
  expect(names).toEqual(expect.arrayContaining([...bundled, "zod", "ajv", "content-type", "saxes"]));
  expect(names).not.toContain(onlyTested);
});
