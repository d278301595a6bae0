import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { Complaint } from "../launch/complaint.ts";
import { node, projectRoot } from "../launch/project.ts";

export type Ended = { code: number; stdout: string; stderr: string };
export type Wrangler = ReturnType<typeof wranglerOf>;

const linesShown = 20;

/** Runs one command of wrangler to completion. */
export type RunWrangler = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<Ended>;

const programOf = (env: NodeJS.ProcessEnv) =>
  env["KILN_WRANGLER"] || join(projectRoot, "node_modules/wrangler/bin/wrangler.js");

const runProgram: RunWrangler = async (args, env) => {
  const child = spawn(node, [programOf(env), ...args], { cwd: projectRoot, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
};

/** The pinned wrangler, or the program that KILN_WRANGLER names. */
export function wranglerOf(env: NodeJS.ProcessEnv, runWrangler = runProgram) {
  // KILN_DEPLOY marks our own deployments for scripts/deploy/guard.mjs.
  const quiet = {
    ...env,
    KILN_DEPLOY: "1",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    NO_COLOR: "1",
  };

  async function run(args: readonly string[], forAccount?: string): Promise<Ended> {
    const own = forAccount === undefined ? quiet : { ...quiet, CLOUDFLARE_ACCOUNT_ID: forAccount };
    return await runWrangler(args, own);
  }

  return {
    run,
    /** Runs a command that must succeed. A failure is a Complaint with wrangler's last lines. */
    async must(args: readonly string[], forAccount?: string): Promise<string> {
      const { code, stdout, stderr } = await run(args, forAccount);
      if (code === 0) return stdout;
      const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-linesShown).join("\n");
      throw new Complaint(`wrangler ${args.join(" ")} failed (exit ${code}):\n${said}`);
    },
    /** Runs an interactive command. */
    async interactive(args: readonly string[]): Promise<void> {
      const child = spawn(node, [programOf(quiet), ...args], { cwd: projectRoot, env: quiet, stdio: "inherit" });
      const code = await new Promise((resolve) => child.on("close", resolve));
      if (code !== 0) throw new Complaint(`wrangler ${args.join(" ")} failed.`);
    },
  };
}
