import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { deploy } from "../../../scripts/deploy/deploy.ts";
import { Complaint } from "../../../scripts/launch/complaint.ts";
import { emptyFolder } from "../folder.ts";
import { operatorToken, queueToken, startCloudflare } from "./cloudflare.ts";
import { startService } from "./service.ts";

export const standIn = join(import.meta.dirname, "wrangler.ts");
/** The real one, which scripts/deploy takes by default. */
export const realWrangler = "";
export type World = Awaited<ReturnType<typeof newWorld>>;

/** An account without anything, and a checkout that was never deployed. */
export async function newWorld(wrangler = standIn) {
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
    KILN_WRANGLER: wrangler,
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
      run([...standard, ...args], { ...env, ...changed }),
  };
}

/** Runs one command line; the problem is the Complaint it ended with. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ output: string; problem: string }> {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  onTestFinished(() => spy.mockRestore());
  try {
    await deploy(args, env);
    return { output: lines.join(""), problem: "" };
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    return { output: lines.join(""), problem: error.message };
  } finally {
    spy.mockRestore();
  }
}
