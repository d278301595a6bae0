import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { deploy } from "../../../scripts/deploy/deploy.ts";
import type { RunWrangler } from "../../../scripts/deploy/wrangler.ts";
import { Complaint } from "../../../scripts/launch/complaint.ts";
import { emptyFolder } from "../folder.ts";
import { operatorToken, queueToken, startCloudflare } from "./cloudflare.ts";
import { startService } from "./service.ts";
import { runStandIn } from "./wrangler.ts";

const standInProgram = join(import.meta.dirname, "wrangler-program.ts");
export type World = Awaited<ReturnType<typeof newWorld>>;

/** An empty account, and a checkout that was never deployed. Its env runs the stand-in as a program. */
export async function newWorld(wrangler: "stand-in" | "real" = "stand-in") {
  const cloudflare = await startCloudflare();
  const service = await startService(() => cloudflare.account.workers.get("kiln")?.secrets["ADMIN_SECRET"]);
  const folder = emptyFolder();
  const log = join(folder, "wrangler.log");
  const env: NodeJS.ProcessEnv = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    XDG_CONFIG_HOME: folder, // of wrangler
    CLOUDFLARE_API_BASE_URL: cloudflare.url,
    CLOUDFLARE_API_TOKEN: operatorToken,
    QUEUE_API_TOKEN: queueToken,
    KILN_DEPLOY_FOLDER: join(folder, "deploy"),
    KILN_WRANGLER: wrangler === "real" ? "" : standInProgram,
    STAND_IN_LOG: log,
  };
  const standard = ["--host", "kiln.example.com", "--guests-host", "guests.example.com", "--url", service.url];
  return {
    cloudflare,
    service,
    folder: join(folder, "deploy/production"),
    log,
    env,
    deploy: (args: readonly string[] = [], changed: NodeJS.ProcessEnv = {}) =>
      run([...standard, ...args], { ...env, ...changed }, wrangler === "real" ? undefined : runStandIn),
  };
}

/** Runs one command line. The problem is the Complaint that ended it. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv, wrangler: RunWrangler | undefined) {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  onTestFinished(() => spy.mockRestore());
  try {
    await deploy(args, env, wrangler);
    return { output: lines.join(""), problem: "" };
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    return { output: lines.join(""), problem: error.message };
  } finally {
    spy.mockRestore();
  }
}
