import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { mountsBelow } from "../src/leftovers.ts";
import { agentToken, startFakeWorker, type FakeBuild } from "./fake-worker.ts";
import { eventually, fakeKiwi, inScenario, processesIn, temporaryDir } from "./support/agent-place.ts";
import { frozenInput } from "./support/frozen-input.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/**
 * The agent as a separate process; killed at the end of the test if it still runs.
 *
 * @param shell runs its command, which is "$@"
 */
function startProcess(url: string, dir: string, more: Record<string, unknown> = {}, shell = 'umask 022; exec "$@"') {
  const file = join(dir, "agent.json");
  const config = {
    url,
    token: agentToken,
    stateDir: dir,
    isolation: "none",
    kiwi: fakeKiwi,
    testdriveSlots: 0,
    ...more,
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const command = [process.execPath, main, "--config", file];
  const child = spawn("sh", ["-c", shell, "sh", ...command], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (bytes) => (output += bytes));
  return { child, said: () => output, ended: endOf(child), [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

const endOf = (child: ChildProcess) =>
  new Promise<number | string | null>((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));

const runs = (build: FakeBuild) => build.log.includes("Installing");

describe("the agent's process", () => {
  it("connects and reports its host's capabilities", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    using agent = startProcess(worker.url, state.path);

    await eventually("hello", () => worker.hellos.length > 0);

    expect(worker.hellos[0]?.capabilities).toMatchObject({
      isolation: "none",
      imageTypes: expect.arrayContaining(["oem", "iso"]),
    });
    expect(agent.said()).not.toContain(agentToken);
  });

  it("writes what other users can read, also under a strict umask", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    using agent = startProcess(worker.url, state.path, {}, 'umask 077; exec "$@"');

    await eventually("hello", () => worker.hellos.length > 0);

    expect(readFileSync(`/proc/${agent.child.pid}/status`, "utf8")).toMatch(/^Umask:\t0022$/m);
  });

  it("identifies its process: a later one of the same host and state directory", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    await using elsewhere = await temporaryDir();
    for (const dir of [state.path, state.path, elsewhere.path]) {
      using agent = startProcess(worker.url, dir);
      const before = worker.hellos.length;
      await eventually("hello", () => worker.hellos.length > before);
      agent.child.kill("SIGKILL");
      await agent.ended;
    }
    const [first, second, other] = worker.hellos.map(({ incarnation }) => incarnation);
    expect(second?.host).toBe(first?.host);
    expect(second?.start).toBeGreaterThan(first?.start ?? Infinity);
    expect(other?.host).not.toBe(first?.host);
  });

  it("releases its build on SIGTERM, cleans up and ends", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    using agent = startProcess(worker.url, state.path);
    const build = worker.queueBuild(inScenario("slow"));
    await eventually("the build runs", () => runs(build));

    // Ctrl-C under npm: the terminal and npm both send a signal.
    for (const signal of ["SIGINT", "SIGTERM"] as const) agent.child.kill(signal);

    expect(await agent.ended).toBe(0);
    expect(build.status).toBe("released");
    expect(processesIn(state.path).size).toBe(0);
    expect(await mountsBelow(state.path)).toEqual([]);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
  });

  it("ends KIWI when it is killed; its successor cleans up", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    using killed = startProcess(worker.url, state.path);
    const lost = worker.queueBuild(inScenario("slow"));
    await eventually("the build runs", () => runs(lost));

    killed.child.kill("SIGKILL");
    await killed.ended;
    await eventually("KIWI is gone", () => processesIn(state.path).size === 0);
    expect(existsSync(join(state.path, "work/build-1-1"))).toBe(true);

    const again = worker.queueBuild(frozenInput());
    using successor = startProcess(worker.url, state.path);
    await eventually("the next build is finished", () => again.status === "finished");

    expect(successor.said()).toContain("cleaned up after a killed agent");
    await eventually("nothing is left", () => readdirSync(join(state.path, "work")).length === 0);
  });

  it("refuses a state directory that another agent uses", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    using first = startProcess(worker.url, state.path);
    await eventually("hello", () => worker.hellos.length > 0);

    using second = startProcess(worker.url, state.path);

    expect(await second.ended).toBe(1);
    expect(second.said()).toContain("another agent uses");
    expect(first.child.exitCode).toBeNull();
  });

  it.each(["", "/new"])("refuses the read-only state directory disk%s, and says how to allow it", async (below) => {
    await using dir = await temporaryDir();
    const disk = join(dir.path, "disk");
    mkdirSync(disk);
    // The agent sees a read-only file system there, as under the unit.
    const mounted = `mount -t tmpfs -o ro tmpfs "${disk}" && exec "$@"`;
    const shell = `exec unshare --mount sh -c '${mounted}' sh "$@"`;
    using agent = startProcess("http://127.0.0.1:1", dir.path, { stateDir: `${disk}${below}` }, shell);

    expect(await agent.ended).toBe(2);
    expect(agent.said()).toContain(`stateDir: ${disk}${below} is on a file system that is read-only`);
    expect(agent.said()).toContain(`ReadWritePaths=${disk}${below}`);
  });

  it("reports every problem of its configuration, and exits with 2", async () => {
    await using state = await temporaryDir();
    using agent = startProcess("nowhere", state.path, { isolation: "perhaps", slots: -1 });

    expect(await agent.ended).toBe(2);
    expect(agent.said()).toMatch(/url.*\n.*isolation.*\n.*slots/);
  });

  it("ends if the Worker rejects its token", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    using agent = startProcess(worker.url, state.path, { token: "some-other-token" });

    expect(await agent.ended).toBe(1);
    expect(agent.said()).toContain("HTTP 401");
    expect(agent.said()).not.toContain("some-other-token");
  });

  it.each(["SIGINT", "SIGUSR2"] as const)("waits for a Worker that has not started, and ends on %s", async (signal) => {
    await using state = await temporaryDir();
    using agent = startProcess("http://127.0.0.1:1", state.path);

    await eventually("the first try", () => agent.said().includes("the Worker does not answer"));
    agent.child.kill(signal);

    expect(await agent.ended).toBe(0);
  });
});
