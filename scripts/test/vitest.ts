import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIfThere } from "../launch/private-file.ts";
import { node, projectRoot } from "../launch/project.ts";
import { count, Report, type Tally } from "./tally.ts";

/** When a run's words appear: two runs at a time would mix theirs. */
export type Show = "at once" | "when it ends";

export interface Run {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  show: Show;
}

/** Runs projects of test/vitest.config.ts, shows what vitest shows, and counts. */
export async function runVitest(projects: readonly string[], { args, env, show }: Run): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-test-"));
  const reportFile = join(folder, "report.json");
  try {
    const exitCode = await run([...command(projects, reportFile), ...args], { env, show });
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

function run(args: readonly string[], { env, show }: Pick<Run, "env" | "show">): Promise<number> {
  const stdio = show === "at once" ? "inherit" : "pipe";
  const child = spawn(node, args, { cwd: projectRoot, env, stdio: ["ignore", stdio, stdio] });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, forward);
  const words: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => words.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      process.stdout.write(Buffer.concat(words));
      resolve(code ?? 1);
    });
  });
}
