import { join } from "node:path";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";
import { bootSeconds, loginPrompt } from "../testdrive.ts";
import { bootedFrom, makeHome, newDisk, startMachine, type Home } from "./machine.ts";
import { changeBoot, volumeKeyOf } from "./volume.ts";

/** An image that encrypts itself, as a raw disk, and an empty folder to work in. */
export interface Workspace {
  image: string;
  folder: string;
  signal: AbortSignal;
}

/** A machine after its first boot. */
interface Encrypted {
  home: Home;
  disk: string;
  /** As a raw disk. */
  raw: string;
  recoveryKey: string;
}

export const recoveryKey = /(?:[b-lnrt-v]{8}-){7}[b-lnrt-v]{8}/;
const withoutTpm = /This machine has no TPM/;
export const written = /Write it down now/;
/** systemd's line when the root is open. */
export const openedLine = /Finished [^\n]*Encryption of the disk/;
const refusedLine = /The TPM does not open the disk/;

/**
 * Two machines of one image have two volume keys. The disk of the first opens with its own TPM, not with the other one,
 * and not with a changed argument of the kernel. Throws otherwise.
 */
export async function proveTpm(workspace: Workspace): Promise<void> {
  await using homeOfOne = await makeHome(workspace.folder, "one");
  await using homeOfOther = await makeHome(workspace.folder, "other");
  const [one, other] = await Promise.all([
    firstBoot(workspace, homeOfOne, "one"),
    firstBoot(workspace, homeOfOther, "other"),
  ]);
  const keyOf = (machine: Encrypted) => volumeKeyOf(machine.raw, machine.recoveryKey, workspace.folder);
  if ((await keyOf(one)).equals(await keyOf(other))) throw new Complaint("Both machines have the same volume key.");
  const changed = join(workspace.folder, "changed.qcow2");
  const moved = join(workspace.folder, "moved.qcow2");
  await command("cp", [one.disk, moved]);
  await changeBoot(one.raw, "rd.shell=0", "rd.shell=1");
  await newDisk(one.raw, changed);
  const [own, foreign] = await Promise.all([
    boot(workspace, { home: one.home, disk: one.disk }, [loginPrompt, refusedLine]),
    boot(workspace, { home: other.home, disk: moved }, [openedLine, refusedLine]),
  ]);
  if (own === refusedLine) throw new Complaint("A machine's own TPM does not open its disk.");
  if (foreign !== refusedLine) throw new Complaint("The TPM of another machine opens the disk.");
  if ((await boot(workspace, { home: one.home, disk: changed }, [openedLine, refusedLine])) !== refusedLine)
    throw new Complaint("The TPM opens the disk although an argument of the kernel has changed.");
}

async function firstBoot({ image, folder, signal }: Workspace, home: Home, name: string): Promise<Encrypted> {
  const disk = join(folder, `${name}.qcow2`);
  await newDisk(image, disk);
  await using machine = await startMachine({ home, drives: bootedFrom(disk), hasTpm: true }, signal);
  const either = new RegExp(`${recoveryKey.source}|${withoutTpm.source}`);
  const [key] = await machine.console.says(either, { within: bootSeconds });
  if (withoutTpm.test(key)) throw new Complaint("The machine found no TPM.");
  await machine.console.says(written, { within: bootSeconds });
  await machine.console.type("");
  await machine.console.says(openedLine, { within: bootSeconds });
  await machine[Symbol.asyncDispose]();
  const raw = join(folder, `${name}.raw`);
  await command("qemu-img", ["convert", "-O", "raw", disk, raw]);
  return { home, disk, raw, recoveryKey: key };
}

/** Boots until one of these lines appears on the serial console, and returns its pattern. */
async function boot(
  { signal }: Workspace,
  { home, disk }: { home: Home; disk: string },
  lines: readonly [RegExp, RegExp],
): Promise<RegExp | undefined> {
  await using machine = await startMachine({ home, drives: bootedFrom(disk), hasTpm: true }, signal);
  const any = new RegExp(lines.map(({ source }) => source).join("|"), "m");
  const [found] = await machine.console.says(any, { within: bootSeconds });
  return lines.find((line) => line.test(found));
}
