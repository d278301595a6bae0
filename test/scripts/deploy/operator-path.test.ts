import { execFileSync, spawn } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/launch/project.ts";
import { emptyFolder } from "../folder.ts";
import { queueToken } from "./cloudflare.ts";
import { newWorld } from "./run.ts";

/** The commands of the block of a page that contains a word. */
function commandsOf(page: string, word: string): string[] {
  const blocks = [...readFileSync(join(projectRoot, page), "utf8").matchAll(/^ *```\n([^]*?)^ *```/gm)];
  const block = blocks.map(([, content = ""]) => content).find((content) => content.includes(word)) ?? "";
  return block
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/**
 * The files of this checkout that git tracks, with the packages, and the bundle that npm run build has made from them.
 */
function freshClone(): string {
  const clone = join(emptyFolder(), "kiln");
  execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${projectRoot}`, clone]);
  symlinkSync(join(projectRoot, "node_modules"), join(clone, "node_modules"));
  cpSync(join(projectRoot, "dist"), join(clone, "dist"), { recursive: true });
  execFileSync("sh", ["-c", `cp src/lib/solver/native/*.wasm "$1"`, "sh", join(clone, "src/lib/solver/native")], {
    cwd: projectRoot,
  });
  return clone;
}

async function shell(line: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn("sh", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const code = new Promise((resolve) => child.on("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, output: stdout + stderr };
}

describe("the operator's path", () => {
  it("is named by the README", () => {
    expect(readFileSync(join(projectRoot, "README.md"), "utf8")).toContain("docs/operations/cloudflare.md");
  });

  it("leads from a fresh clone to a service, word for word", async () => {
    const world = await newWorld();
    const clone = freshClone();
    const { KILN_DEPLOY_FOLDER: _folder, QUEUE_API_TOKEN: _token, ...env } = world.env;
    writeFileSync(join(clone, "token.txt"), `${queueToken}\n`);
    const commands = commandsOf("docs/operations/cloudflare.md", "npm run deploy -- --host");
    expect(commands).toHaveLength(2);
    let output = "";
    for (const command of commands) {
      const ended = await shell(command, clone, { ...env, KILN_URL: world.service.url });
      expect(ended).toMatchObject({ code: 0 });
      output += ended.output;
    }
    expect(output).toContain(`apt install ./kiln-agent_*.deb && kiln-agent setup ${world.service.url}\n`);
    expect(execFileSync("git", ["status", "--short"], { cwd: clone, encoding: "utf8" })).toBe(
      "?? node_modules\n?? token.txt\n",
    );
    const agent: unknown = JSON.parse(readFileSync(join(clone, "deploy/production/agent-builder1.json"), "utf8"));
    expect(agent).toEqual({ url: world.service.url, token: "token-1", stateDir: "/var/lib/kiln-agent" });
    expect([...world.cloudflare.account.domains]).toEqual(["kiln.example.org", "guests.example.net"]);
  });
});
