import { spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processes, signalAll } from "../../../scripts/launch/process-tree.ts";
import { until } from "./until.ts";

export { until } from "./until.ts";

const root = new URL("../../..", import.meta.url).pathname;

export interface Ready {
  url: string;
  username: string;
  api_key: string;
  agent_pid: number | null;
}

/** A whole service, started by the README's first command with its own state directory. */
export interface Service {
  stateDir: string;
  ready: () => Ready;
  /** The whole output so far. */
  output: () => string;
  stop: () => Promise<void>;
  /** The launcher's process id. */
  pid: number;
  /** Ends it with a signal, and keeps its state. */
  end: (signal: "SIGTERM" | "SIGKILL") => Promise<void>;
}

/** The place of a service, where a new service can continue. */
export interface ServicePlace {
  stateDir: string;
  port: number;
}

/**
 * Starts the service and waits until it is ready. Omits Debian, whose import takes a minute of processor time. Host
 * packages and the sample distribution already exist.
 *
 * @param agent keys of the agent's configuration, by their names in the environment
 */
export const startService = (
  options: string[] = [],
  vars: Record<string, string> = {},
  agent: Record<string, string> = {},
  at?: ServicePlace,
): Promise<Service> =>
  startAsItIs(["--no-debian", ...options], { env: { ...agent, KILN_VARS: JSON.stringify(vars) }, at });

/** Starts the service as `npm start` does. */
export async function startAsItIs(
  options: string[] = [],
  { env = {}, at }: { env?: Record<string, string>; at?: ServicePlace | undefined } = {},
): Promise<Service> {
  const { stateDir, port } = at ?? (await newPlace());
  rmSync(readyFile(stateDir), { force: true }); // a killed service may have left it
  const args = ["scripts/start.mjs", "--state", stateDir, "--port", String(port), ...options];
  const launcher = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  launcher.stdout.on("data", (chunk) => (output += chunk));
  launcher.stderr.on("data", (chunk) => (output += chunk));
  const service: Service = {
    stateDir,
    ready: () => runningService(stateDir).ready,
    output: () => output,
    pid: launcher.pid ?? 0,
    end: async (signal) => {
      // The launcher runs below the script that chooses its Node.
      if (signal === "SIGKILL") signalAll(childrenOf(launcher.pid ?? 0), signal);
      await ended(launcher, signal);
    },
    stop: async () => {
      await ended(launcher, "SIGTERM");
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
  await until("the service is ready", 300, () => {
    if (launcher.exitCode !== null) throw new Error(`the service ended with ${launcher.exitCode}:\n${output}`);
    return existsSync(readyFile(stateDir));
  });
  return service;
}

/** A service that already runs, with this state directory. */
export const runningService = (stateDir: string): { stateDir: string; ready: Ready } => ({
  stateDir,
  ready: JSON.parse(readFileSync(readyFile(stateDir), "utf8")) as Ready,
});

const readyFile = (stateDir: string): string => join(stateDir, "ready.json");

export const newPlace = async (): Promise<ServicePlace> => ({
  stateDir: mkdtempSync(join(tmpdir(), "kiln-acceptance-")),
  port: await freePort(),
});

const childrenOf = (pid: number): number[] =>
  processes()
    .filter(({ parent }) => parent === pid)
    .map((each) => each.pid);

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}

/**
 * A port on which no one listens, below the ports that the system assigns to connections. Before the service listens,
 * any connection of this machine could get one of those. fetch refuses 10080.
 */
export const freePort = () =>
  new Promise<number>((resolve) => {
    const port = randomInt(11_000, 30_000);
    const server = createServer().once("error", () => resolve(freePort()));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)));
  });
