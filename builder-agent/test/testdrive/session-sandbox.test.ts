import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { judgeSandbox } from "../../src/doctor/machine.ts";
import type { Machine } from "../../src/testdrive/machine.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { environment, trySandbox, sandboxed } from "../../src/testdrive/session-sandbox.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";
import { getQemu } from "./find-qemu.ts";
import { startSession } from "./session.ts";

/** An agent's state directory with a session, and with files that its QEMU must not see. */
async function place() {
  const state = await temporaryDir();
  const dir = await makeSessionDir(state.path, 7);
  const file = async (name: string, words: string) => {
    await mkdir(join(state.path, name, ".."), { recursive: true });
    await writeFile(join(state.path, name), words);
    return join(state.path, name);
  };
  const image = await file("cache/7/own.raw", "own image");
  const secrets = [
    await file("agent.json", "secret"),
    await file("cache/8/other.raw", "secret"),
    await file("testdrives/8/overlay.qcow2", "secret"),
    "/etc/passwd",
    "/root/.bashrc",
  ];
  await file("testdrives/7/overlay.qcow2", "own overlay");
  const machine: Machine = {
    testdriveId: 7,
    accel: "tcg",
    memoryMb: 64,
    hasNetwork: false,
    seed: [],
    drives: [],
    image,
    enclosed: true,
    diskBytes: 1e6,
    vnc: null,
  };
  return {
    secrets,
    image,
    dir,
    machine,
    async [Symbol.asyncDispose]() {
      await dir[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

type Place = Awaited<ReturnType<typeof place>>;

/** Runs a program in place of QEMU. */
function start({ machine, dir }: Place, command: string[], change: Partial<Machine> = {}) {
  const [program = "", ...args] = sandboxed({ ...machine, ...change }, dir, command);
  const child = spawn(program, args, {
    cwd: dir.path,
    env: environment(),
    stdio: ["ignore", "pipe", "inherit", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, stdout: child.stdout ?? Readable.from([]) };
}

const outputOf = async (at: Place, script: string) => await text(start(at, ["sh", "-c", script]).stdout);

/** The command line of a process. Empty if the process has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** A service on this host's loopback. */
async function hostService(): Promise<number> {
  const server = createServer((socket) => socket.end("host")).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const serves = (port: number) =>
  `require("http").createServer((q, a) => q.pipe(a)).listen(${port}, "127.0.0.1", () => console.log("up"))`;

const dials = (port: number) =>
  `require("net").connect(${port}, "127.0.0.1").on("connect", () => console.log("reached")).on("error", (e) => console.log(e.code))`;

describe("the sandbox of a session", () => {
  it("shows its own directory and image, and no other file of this host", async () => {
    await using at = await place();

    const own = await outputOf(at, `cat overlay.qcow2 ${at.image}; echo x >> ${at.image} || echo read-only`);
    const others = await outputOf(at, at.secrets.map((path) => `cat ${path} 2>&1`).join("; "));

    expect(own).toBe("own overlayown imageread-only\n");
    expect(others.trim().split("\n")).toEqual(
      at.secrets.map(() => expect.stringContaining("No such file or directory")),
    );
  });

  it("leaves it no process, no name and no variable of this host", async () => {
    await using at = await place();
    process.env["KILN_AGENT_TOKEN"] = "a-secret-token";
    onTestFinished(() => void delete process.env["KILN_AGENT_TOKEN"]);

    const [processes = "", names = "", variables = ""] = (
      await outputOf(at, "ls /proc | grep -c '^[0-9]'; echo -; ls -A /; echo -; env")
    ).split("-\n");

    expect(Number(processes)).toBeLessThan(6);
    expect(names.split("\n")).not.toContain("root");
    expect(variables).toContain("PATH=");
    expect(variables).not.toContain("secret");
  });

  it("keeps this host's loopback out of reach", async () => {
    await using at = await place();
    const port = await hostService();
    const dial = ["node", "-e", dials(port)];

    const here = await text(start(at, dial, { enclosed: false }).stdout);
    const inside = await text(start(at, dial).stdout);

    expect([here, inside]).toEqual(["reached\n", "ECONNREFUSED\n"]);
  });

  it("has one socket each for the web server and for VNC clients", async () => {
    await using at = await place();
    const vnc = { bindHost: "127.0.0.1", port: 1, password: "x" };
    const { stdout } = start(at, ["node", "-e", `${serves(8080)};${serves(5900)}`], { hasNetwork: true, vnc });
    await once(stdout, "data");

    const answers = ["web.sock", "clients.sock"].map(async (name) => {
      const asked = request({ socketPath: at.dir.socket(name), method: "POST" }).end(name);
      const [answer] = await once(asked, "response");
      return await text(answer);
    });

    expect(await Promise.all(answers)).toEqual(["web.sock", "clients.sock"]);
  });

  it("passes on how QEMU has ended", async () => {
    await using at = await place();
    const end = async (script: string) =>
      (await once(start(at, ["sh", "-c", script], { hasNetwork: true }).child, "exit"))[0];

    expect([await end("exit 0"), await end("exit 3"), await end("kill -9 $$")]).toEqual([0, 3, 137]);
  });

  it("runs a real QEMU", async () => {
    await using session = await startSession({ change: (claim) => ({ ...claim, hasNetwork: true }) });
    await session.ready();
    const proc = `/proc/${getQemu(session.path)}`;

    expect(readlinkSync(`${proc}/ns/net`)).not.toBe(readlinkSync("/proc/self/ns/net"));
    expect(readlinkSync(`${proc}/ns/pid`)).not.toBe(readlinkSync("/proc/self/ns/pid"));
    expect(existsSync(`${proc}/root${session.path}/serial.log`)).toBe(true);
    expect(readdirSync(`${proc}/root${session.stateDir}/testdrives`)).toHaveLength(1);
    expect(existsSync(`${proc}/root/etc/passwd`)).toBe(false);
    expect(readFileSync(`${proc}/environ`, "utf8")).not.toContain("HOME=");
  });

  it("ends with the agent", async () => {
    await using at = await place();
    const command = sandboxed(at.machine, at.dir, ["sh", "-c", "echo up; exec sleep 1000"]);
    const agent = spawn("sh", ["-c", '"$@" & echo $!; wait', "sh", ...command], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let said = "";
    agent.stdout.on("data", (bytes: Buffer) => (said += String(bytes)));
    await eventually("the program has started", () => said.includes("up"));
    const pid = Number(/\d+/.exec(said)?.[0]);
    expect(commandOf(pid)).toContain("bwrap");

    agent.kill("SIGKILL");

    await eventually("it is gone", () => commandOf(pid) === "");
  });
});

describe("a host without bubblewrap", () => {
  it("has no sandbox, and reports why", async () => {
    await using empty = await temporaryDir();

    expect(await trySandbox({ PATH: empty.path })).toEqual({
      enclosed: false,
      openness: "bubblewrap is not installed",
    });
    expect(await trySandbox()).toEqual({ enclosed: true, openness: "" });
    expect(judgeSandbox({ enclosed: false, openness: "bubblewrap is not installed" })).toMatchObject({
      state: "degraded",
      disables: [],
      detail: expect.stringMatching(/^bubblewrap is not installed; QEMU still runs as a user without rights/),
    });
  });
});
