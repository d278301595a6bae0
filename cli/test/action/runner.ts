import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";

/** Runs the steps of action.yml as GitHub's runner does for a composite action, as far as this action needs it. */

const repository = new URL("../../..", import.meta.url).pathname;

interface Step {
  name: string;
  id?: string;
  if?: string;
  env?: Record<string, string>;
  run: string;
}
interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}

export const action = parse(readFileSync(join(repository, "action.yml"), "utf8")) as Action;

export interface Job {
  event: "pull_request" | "pull_request_target" | "push";
  inputs: Record<string, string>;
  /** The address of GitHub's API. */
  api: string;
  /** The folder with the checked-out repository. */
  workspace: string;
  /** The environment of the job and of the stand-ins for programs. */
  env?: Record<string, string>;
  /** Steps that were run before. */
  without?: readonly string[];
}

export interface JobEnd {
  /** The name of the step that failed. */
  failed: string | undefined;
  log: string;
  summary: string;
  outputs: Record<string, string>;
}

export async function runJob(job: Job): Promise<JobEnd> {
  const temporary = mkdtempSync(join(tmpdir(), "kiln-action-"));
  try {
    return await runSteps(job, temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function runSteps(job: Job, temporary: string): Promise<JobEnd> {
  const at = (name: string) => join(temporary, name);
  mkdirSync(at("runner"));
  for (const name of ["output", "path", "summary"]) writeFileSync(at(name), "");
  writeFileSync(at("event.json"), JSON.stringify({ pull_request: { number: 7 } }));
  const steps: Record<string, Record<string, string>> = {};
  const told = contextOf(job, steps);
  const end: JobEnd = { failed: undefined, log: "", summary: "", outputs: {} };
  for (const step of action.runs.steps) {
    if (job.without?.includes(step.name) || (step.if !== undefined && filled(step.if, told) !== "true")) continue;
    writeFileSync(at("output"), "");
    writeFileSync(at("script.sh"), step.run);
    const env = {
      PATH: [...readFileSync(at("path"), "utf8").trim().split("\n").toReversed(), process.env["PATH"]].join(":"),
      HOME: temporary,
      GITHUB_ACTION_PATH: repository,
      GITHUB_API_URL: job.api,
      GITHUB_REPOSITORY: "owner/kiosk",
      GITHUB_EVENT_PATH: at("event.json"),
      GITHUB_OUTPUT: at("output"),
      GITHUB_PATH: at("path"),
      GITHUB_STEP_SUMMARY: at("summary"),
      RUNNER_TEMP: at("runner"),
      ...job.env,
      ...Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, told)])),
    };
    const { code, log } = await bash(at("script.sh"), env, job.workspace);
    end.log += log;
    if (step.id !== undefined) steps[step.id] = outputsIn(readFileSync(at("output"), "utf8"));
    if (code === 0) continue;
    end.failed = step.name;
    break;
  }
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, told)]);
  return { ...end, summary: readFileSync(at("summary"), "utf8"), outputs: Object.fromEntries(outputs) };
}

type Context = (path: string) => string;

function contextOf({ event, inputs }: Job, steps: Record<string, Record<string, string>>): Context {
  return (path) => {
    const [scope, name = "", , output = ""] = path.split(".");
    if (scope === "github") return { event_name: event, token: "github-token" }[name] ?? unknown(path);
    if (scope === "steps") return steps[name]?.[output] ?? "";
    const input = scope === "inputs" ? action.inputs[name] : undefined;
    return inputs[name] ?? (input ? filled(input.default ?? "", () => "github-token") : unknown(path));
  };
}

function unknown(path: string): never {
  throw new Error(`action.yml uses ${path}, which the runner of this test does not know`);
}

/** Values of a context, and whether a value equals a text. */
function filled(text: string, context: Context): string {
  return text.replaceAll(/\$\{\{ ([\w.-]+)(?: (==|!=) '(\w+)')? \}\}/g, (_, path: string, relation, wanted) => {
    const value = context(path);
    return relation === undefined ? value : String((value === wanted) === (relation === "=="));
  });
}

/** `name=value`, and multi-line values between delimiters. */
function outputsIn(text: string): Record<string, string> {
  const several = [...text.matchAll(/^(\w+)<<(.+)\n([^]*?)\n?^\2$/gm)].map(([, name, , value]) => [name, value]);
  const single = [...text.replaceAll(/^\w+<<(.+)\n[^]*?^\1$/gm, "").matchAll(/^(\w+)=(.*)$/gm)];
  return Object.fromEntries([...several, ...single.map(([, name, value]) => [name, value])]);
}

/** Like `shell: bash`. */
function bash(script: string, env: Record<string, string>, cwd: string): Promise<{ code: number | null; log: string }> {
  const child = spawn("bash", ["--noprofile", "--norc", "-e", "-o", "pipefail", script], { env, cwd });
  let log = "";
  child.stdout.on("data", (chunk) => (log += chunk));
  child.stderr.on("data", (chunk) => (log += chunk));
  return new Promise((resolve, reject) => child.on("error", reject).on("close", (code) => resolve({ code, log })));
}
