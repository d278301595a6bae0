import { spawn } from "node:child_process";
import { join } from "node:path";
import { Complaint } from "../../launch/complaint.ts";
import { freePort } from "../free-port.ts";
import { answers } from "../promises.ts";
import { bootSeconds, loginPrompt } from "../testdrive.ts";
import { bootedFrom, makeHome, newDisk, startMachine, type Home } from "./machine.ts";
import { openedLine, type Workspace, recoveryKey, written } from "./tpm-proof.ts";

/** The address of a key server that the image must have. QEMU forwards it to this host's loopback. */
export const tangAddress = "http://10.0.2.2:7500";
const { port } = new URL(tangAddress);
const withoutServer = /does not answer, or has another key|gets no address by DHCP/;
const asks = /recovery key of this machine's disk:/;
const tangProgram = "/usr/libexec/tangd";
const sshSeconds = 240;

/** A machine with its disk. */
interface Machine {
  home: Home;
  disk: string;
}

/**
 * A machine encrypts its disk, and binds it to the key server, whose keys are in the folder `keys`. At the next boot,
 * the machine needs no passphrase, and the system configures its network itself. Without the server, only the recovery
 * key opens the disk. Throws otherwise.
 */
export async function proveTang(workspace: Workspace, keys: string): Promise<void> {
  await using home = await makeHome(workspace.folder, "served");
  const disk = join(workspace.folder, "served.qcow2");
  await newDisk(workspace.image, disk);
  const machine = { home, disk };
  let key: string;
  {
    await using running = new AsyncDisposableStack();
    running.use(await startTang(keys));
    key = await firstBoot(workspace, machine);
    await bootAlone(workspace, machine);
  }
  await bootWithKey(workspace, machine, key);
}

async function firstBoot(workspace: Workspace, machine: Machine): Promise<string> {
  await using booted = await start(workspace, machine, await freePort());
  const either = new RegExp(`${recoveryKey.source}|${withoutServer.source}`);
  const [key] = await booted.console.says(either, { within: bootSeconds });
  if (withoutServer.test(key)) throw new Complaint("The machine did not reach the key server.");
  await booted.console.says(written, { within: bootSeconds });
  await booted.console.type("");
  await booted.console.says(openedLine, { within: bootSeconds });
  await booted.console.says(loginPrompt, { within: bootSeconds });
  return key;
}

async function bootAlone(workspace: Workspace, machine: Machine): Promise<void> {
  const ssh = await freePort();
  await using booted = await start(workspace, machine, ssh);
  const [line] = await booted.console.says(new RegExp(`${openedLine.source}|${asks.source}`), { within: bootSeconds });
  if (asks.test(line)) throw new Complaint("The key server does not open the disk.");
  await booted.console.says(loginPrompt, { within: bootSeconds });
  if (!(await answers(ssh, { within: sshSeconds, signal: workspace.signal })))
    throw new Complaint("The system has no network after the initial archive had one.");
}

async function bootWithKey(workspace: Workspace, machine: Machine, key: string): Promise<void> {
  await using booted = await start(workspace, machine, await freePort());
  const [line] = await booted.console.says(new RegExp(`${openedLine.source}|${asks.source}`), { within: bootSeconds });
  if (!asks.test(line)) throw new Complaint("The disk opens without the key server.");
  const from = await booted.console.type(key);
  await booted.console.says(openedLine, { within: bootSeconds, from });
}

const start = ({ signal }: Workspace, { home, disk }: Machine, ssh: number) => {
  const network = `user,id=net,ipv6=off,hostfwd=tcp:127.0.0.1:${ssh}-:22`;
  const others = ["-netdev", network, "-device", "virtio-net-pci,netdev=net,romfile="];
  return startMachine({ home, drives: bootedFrom(disk), hasTpm: false, others }, signal);
};

/** Debian's tang, on the loopback. systemd starts it for each connection, as its socket does. */
async function startTang(keys: string): Promise<AsyncDisposable> {
  const args = ["--inetd", "--accept", `--listen=127.0.0.1:${port}`, tangProgram, keys];
  const server = spawn("systemd-socket-activate", args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => server.on("error", () => resolve()).on("close", () => resolve()));
  const listens = new Promise<void>((resolve) => server.stderr.once("data", () => resolve()));
  await Promise.race([listens, ended]);
  if (server.exitCode !== null || server.pid === undefined)
    throw new Complaint("Install the packages tang and systemd.");
  return {
    async [Symbol.asyncDispose]() {
      server.kill();
      await ended;
    },
  };
}
