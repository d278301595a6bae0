import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundle } from "../../scripts/bundle.ts";

/** How a command line ended. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A user's machine: its own folder for what `kiln login` stores, and kiln in the PATH. */
export interface Machine extends Disposable {
  folder: string;
  env: Record<string, string>;
  kiln: (args: readonly string[], given?: { input?: string; env?: Record<string, string> }) => Promise<Ended>;
}

/** The command line, bundled once for all machines of a process. */
let bundled: string | undefined;

function bundledOnce(): string {
  if (bundled === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "kiln-cli-bundle-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    bundled = join(folder, "kiln.mjs");
    bundle(bundled);
  }
  return bundled;
}

/**
 * Removes what the oldest supported Node (20.12) lacks, because tests may run with a newer one. The compiler does not
 * find these: they are in its types of the web.
 */
const likeNode20 = `--import=data:text/javascript,${encodeURIComponent(
  "for (const one of [Response, Request, Blob]) delete one.prototype.bytes;",
)}`;

export function newMachine(): Machine {
  const folder = mkdtempSync(join(tmpdir(), "kiln-cli-"));
  mkdirSync(join(folder, "bin"));
  const program = join(folder, "bin/kiln");
  const script = bundledOnce();
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${script} "$@"\n`, { mode: 0o755 });
  const env = {
    PATH: `${folder}/bin:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    TMPDIR: tmpdir(),
    XDG_CONFIG_HOME: join(folder, "config"),
    LANG: "C.UTF-8",
    TERM: "xterm",
    NODE_OPTIONS: likeNode20,
    // Otherwise, each of a test's many runs would compile the same two megabytes again.
    NODE_COMPILE_CACHE: join(dirname(script), "compiled"),
  };
  return {
    folder,
    env,
    kiln: async (args, { input = "", env: more = {} } = {}) =>
      await run(program, args, { env: { ...env, ...more }, input, cwd: folder }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs a program to its end. */
export function run(
  program: string,
  args: readonly string[],
  { env, input, cwd }: { env: Record<string, string>; input: string; cwd: string },
): Promise<Ended> {
  const child = spawn(program, args, { env, cwd });
  const ended: Ended = { code: null, stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (ended.stdout += chunk));
  child.stderr.on("data", (chunk) => (ended.stderr += chunk));
  child.stdin.on("error", () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ ...ended, code }));
  });
}
