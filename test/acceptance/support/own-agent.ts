import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Phase } from "../../../builder-agent/src/contract.ts";
import { mountsBelow } from "../../../builder-agent/src/leftovers.ts";
import { signalAll } from "../../../scripts/launch/process-tree.ts";
import { until } from "./service.ts";

const main = fileURLToPath(new URL("../../../builder-agent/src/main.ts", import.meta.url));

/** A real agent that a test starts, kills and restarts, with its own small disk: a file system in memory. */
export class OwnAgent implements AsyncDisposable {
  readonly stateDir: string;
  readonly #configFile: string;
  #process: ChildProcess | undefined;
  #said = "";

  constructor(folder: string, configuration: { url: string; token: string } & Record<string, unknown>, diskMb: number) {
    this.stateDir = join(folder, "agent");
    this.#configFile = join(folder, "agent.json");
    mkdirSync(this.stateDir);
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskMb}m,mode=700`, "none", this.stateDir]);
    const own = { stateDir: this.stateDir, testdriveSlots: 0, cacheGb: 0 };
    writeFileSync(this.#configFile, JSON.stringify({ ...own, ...configuration }), { mode: 0o600 });
  }

  /** Starts it with additional environment variables, and waits until it has connected. */
  async start(env: Record<string, string> = {}): Promise<void> {
    const before = this.#said.length;
    const child = spawn(process.execPath, [main, "--config", this.#configFile], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.on("data", (bytes) => (this.#said += bytes));
    this.#process = child;
    await until("the agent is ready", 120, () => this.#said.includes("agent ready", before));
  }

  /** The whole output of all its starts. */
  get said(): string {
    return this.#said;
  }

  /** The agent's process id. Undefined while it does not run. */
  get pid(): number | undefined {
    const child = this.#process;
    return child?.exitCode === null && child.signalCode === null ? child.pid : undefined;
  }

  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  /** The agent's own log of a build's attempt, before it reaches the service. */
  logOf(buildId: string, attempt: number): string {
    try {
      return readFileSync(join(this.stateDir, "work", `build-${buildId}-${attempt}`, "build.log"), "utf8");
    } catch {
      return ""; // it does not exist yet, or no longer
    }
  }

  /** Waits until that log has the line of a phase. The phase may be over after a second. */
  async entered(buildId: string, phase: Phase, attempt = 1): Promise<void> {
    const endsAt = Date.now() + 120_000;
    while (!this.logOf(buildId, attempt).includes(`Kiln: ${phase}`)) {
      if (Date.now() > endsAt)
        throw new Error(`it never reached: ${phase}; the agent printed:\n${this.said.slice(-2000)}`);
      await sleep(10);
    }
  }

  /** Processes that work in the state directory, with their command lines. */
  processes(): Map<number, string> {
    const found = new Map<number, string>();
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const places = ["cwd", "root"].map((link) => readlinkSync(`/proc/${pid}/${link}`));
        if (!places.some((place) => `${place}/`.startsWith(`${this.stateDir}/`))) continue;
        found.set(Number(pid), readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
      } catch {
        // The process has ended.
      }
    }
    return found;
  }

  /** Everything that builds have left on this host. At the end it must be empty. */
  async leftovers(): Promise<string[]> {
    const loops = execFileSync("losetup", ["--list", "--noheadings", "--output", "BACK-FILE"], { encoding: "utf8" });
    return [
      ...[...this.processes().values()].map((words) => `process ${words}`),
      ...(await mountsBelow(join(this.stateDir, "work"))).map((point) => `mount ${point}`),
      ...loops.split("\n").filter((file) => file.includes(this.stateDir)),
      ...readdirSync(join(this.stateDir, "work")).map((name) => `work directory ${name}`),
    ];
  }

  /**
   * Fills its disk except for this many MB. The agent and its builds are paused meanwhile, because they may have little
   * left to write.
   */
  fillDisk(leftMb = 0): void {
    this.#process?.kill("SIGSTOP");
    const builds = [...this.processes().keys()];
    signalAll(builds, "SIGSTOP");
    const { bavail, bsize } = statfsSync(this.stateDir);
    const bytes = Math.max(0, bavail * bsize - leftMb * 1e6);
    // A build that has just started may be writing, so the disk may be full earlier.
    spawnSync("dd", ["if=/dev/zero", `of=${this.#ballast}`, "bs=1M", "iflag=count_bytes", `count=${bytes}`]);
    this.#process?.kill("SIGCONT");
    signalAll(builds, "SIGCONT");
  }

  emptyDisk(): void {
    rmSync(this.#ballast, { force: true });
  }

  get #ballast(): string {
    return join(this.stateDir, "ballast");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill("SIGTERM");
    execFileSync("umount", ["--recursive", this.stateDir]);
  }
}
