import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIfThere } from "../launch/private-file.ts";
import { node, projectRoot } from "../launch/project.ts";
import { count, Report, type Tally } from "./tally.ts";

/** Runs projects of test/vitest.config.ts, shows what vitest shows, and counts. */
export async function runVitest(
  projects: readonly string[],
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-test-"));
  const reportFile = join(folder, "report.json");
  try {
    const exitCode = await run([...command(projects, reportFile), ...args], env);
    const report = readIfThere(reportFile);
    return count(report === undefined ? undefined : Report.parse(JSON.parse(report)), exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const command = (projects: readonly string[], reportFile: string): string[] => [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--config=test/vitest.config.ts",
  ...projects.map((project) => `--project=${project}`),
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${reportFile}`,
  // A filter may leave one of the two runs without tests; both without is a failure, found by the count.
  "--passWithNoTests",
];

function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(node, args, { cwd: projectRoot, env, stdio: "inherit" });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, forward);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
