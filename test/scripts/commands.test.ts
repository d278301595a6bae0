import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { emptyFolder } from "./folder.ts";

const root = join(import.meta.dirname, "../..");
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
/** The machine's own Node, not the Node 24 that runs these tests. */
const path = (process.env["PATH"] ?? "").split(":").filter((folder) => !folder.includes("node_modules"));

/** Runs it like `npm run NAME -- WORDS`. */
function run(name: string, ...words: string[]) {
  const line = `${scripts[name]} "$@"`;
  const env = { ...process.env, PATH: path.join(":") };
  return spawnSync("sh", ["-c", line, "sh", ...words], { cwd: root, env, encoding: "utf8", timeout: 200_000 });
}

describe.each(["start", "admin", "doctor", "agent"])("npm run %s", (name) => {
  it("prints its usage with --help", () => {
    const { status, stdout, stderr } = run(name, "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^(npm (start|run \w+) -- .*\n)+\n[^]*--help/);
  });

  it("refuses an unknown option in one sentence, with its usage", () => {
    const { status, stdout, stderr } = run(name, "--nonsense");
    expect(stdout).toBe("");
    expect(stderr).toMatch(/Unknown option '--nonsense'\.[^]*\n\nnpm (start|run \w+) -- /);
    expect(stderr).not.toMatch(/^ +at |node:internal/m);
    expect(status).not.toBe(0);
  });
});

describe("npm run agent", () => {
  it("names the missing configuration file", () => {
    const file = join(emptyFolder(), "agent.json");
    expect(run("agent", "--config", file)).toMatchObject({
      status: 2,
      stderr: `The configuration is invalid:\n  --config: there is no file ${file}\n`,
    });
  });
});
