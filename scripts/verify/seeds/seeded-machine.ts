import { rmSync } from "node:fs";
import { makeSeed } from "../../../builder-agent/src/testdrive/seed.ts";
import { makeSessionDir } from "../../../builder-agent/src/testdrive/session-dir.ts";
import type { Accel } from "../../../builder-agent/src/sandbox.ts";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";
import { bootedFrom, newDisk } from "../disk/machine.ts";
import { startGuest, type Guest, type GuestStart } from "../guest.ts";
import { bootSeconds } from "../testdrive.ts";
import { maxStarts, timerPanic } from "../timer-panic.ts";
import { type Facts, factsIn, printFacts } from "./facts.ts";
import { type FirstBootProgram, ready, seedTexts, sshPort } from "./seed-texts.ts";

/** An image as a raw disk, and an empty folder to work in. */
export interface Workspace {
  image: string;
  /** The program that configures its machines at the first boot. */
  program: FirstBootProgram;
  folder: string;
  accel: Accel;
  /** The user who gets the keys of a seed. */
  user: string;
  signal: AbortSignal;
}

const memoryMb = 1024;

/**
 * Boots a copy of the image with its own seed, and reads its facts with the key of the seed over SSH. Throws if the key
 * of another seed opens the machine, or if it has a host name other than its seed's.
 */
export async function bootWithSeed(workspace: Workspace, name: string): Promise<Facts> {
  const { program, folder, accel, user, signal } = workspace;
  await using dir = await makeSessionDir(folder, name);
  const disk = dir.file("disk.qcow2");
  await newDisk(workspace.image, disk);
  const [own, foreign] = await Promise.all([newKey(dir.file("own")), newKey(dir.file("foreign"))]);
  const seed = await makeSeed(seedTexts[program]({ name, user, key: own.publicKey }), dir, signal);
  await using guest = await startUntilReady({
    boot: { args: [...bootedFrom(disk), ...seed], restrict: "on" },
    firmware: [],
    memoryMb,
    accel,
    ports: [sshPort],
    folder: dir.path,
    signal,
  });
  const login = { user, port: guest.portOf(sshPort), signal };
  await refuses(login, foreign.file);
  const facts = factsIn(await ssh(login, own.file, printFacts));
  if (facts.hostName !== name) throw new Complaint(`The machine of the seed ${name} calls itself ${facts.hostName}.`);
  return facts;
}

/** Starts a machine, and waits until its first boot has ended. */
async function startUntilReady(start: GuestStart): Promise<Guest> {
  const either = new RegExp(`${ready}|${RegExp.escape(timerPanic)}`);
  for (let starts = 1; starts <= maxStarts; starts += 1) {
    await using stack = new AsyncDisposableStack();
    const guest = stack.use(await startGuest(start));
    const [said] = await guest.console.says(either, { within: bootSeconds });
    if (said === ready) {
      stack.move(); // the caller ends the machine
      return guest;
    }
  }
  throw new Complaint(`The kernel stopped ${maxStarts} times with "${timerPanic}".`);
}

async function newKey(file: string): Promise<{ file: string; publicKey: string }> {
  rmSync(file, { force: true });
  await command("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "seed", "-f", file]);
  return { file, publicKey: (await command("ssh-keygen", ["-y", "-f", file])).trim() };
}

interface Login {
  user: string;
  port: number;
  signal: AbortSignal;
}

/** Runs a command on a machine. Uses no agent, no configuration and no other key of the host. */
const ssh = ({ user, port, signal }: Login, key: string, line: string): Promise<string> => {
  const options = ["IdentitiesOnly=yes", "IdentityAgent=none", "BatchMode=yes", "LogLevel=ERROR", "ConnectTimeout=120"];
  const unknown = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"];
  const all = [...options, ...unknown].flatMap((option) => ["-o", option]);
  return command("ssh", ["-F", "none", ...all, "-i", key, "-p", String(port), `${user}@127.0.0.1`, line], { signal });
};

/** Throws unless the machine refuses this key. Another failure is not a refusal. */
async function refuses(login: Login, key: string): Promise<void> {
  const refusal = await ssh(login, key, "true").then(
    () => new Complaint("The key of another seed opens the machine."),
    (error: unknown) => error,
  );
  if (!(refusal instanceof Complaint) || !/Permission denied \(publickey/.test(refusal.message)) throw refusal;
}
