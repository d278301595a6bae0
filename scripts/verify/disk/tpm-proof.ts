import { join } from "node:path";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";
import type { StepRecord } from "../step-record.ts";
import { bootSeconds, loginPrompt } from "../testdrive.ts";
import { twoAtATime } from "../two-at-a-time.ts";
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
  name: string;
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

/** A question about one machine, which its next boot answers. */
interface Trial {
  what: string;
  seen: string;
  /** Resolves if the machine behaves as it must. */
  work: (machine: Encrypted) => Promise<void>;
}

/**
 * Boots machines of one image, each with a TPM. No two may have the same volume key, and each disk must open with its
 * own TPM, not with another one, and not with a changed argument of the kernel.
 */
export async function proveTpms(record: StepRecord, workspace: Workspace, count: number): Promise<void> {
  await using homes = new AsyncDisposableStack();
  const machines: Encrypted[] = [];
  const names = Array.from({ length: count }, (_, each) => `tpm-${each + 1}`);
  await twoAtATime(names, async (name) => {
    const home = homes.use(await makeHome(workspace.folder, name));
    const step = { of: name, what: "first boot", seen: () => "the disk was encrypted" };
    const machine = await record.step(step, () => firstBoot(workspace, home, name));
    if (machine) machines.push(machine);
  });
  const compared = { of: "TPMs", what: `compare ${machines.length} volume keys`, seen: () => "no two are equal" };
  await record.step(compared, () => refuseEqualKeys(workspace, machines));
  for (const { what, seen, work } of trials(workspace, machines))
    await twoAtATime(machines, (machine) =>
      record.step({ of: machine.name, what, seen: () => seen }, () => work(machine)),
    );
}

async function refuseEqualKeys({ folder }: Workspace, machines: readonly Encrypted[]): Promise<void> {
  const keys = new Set<string>();
  for (const { raw, recoveryKey: opens } of machines) keys.add((await volumeKeyOf(raw, opens, folder)).toString("hex"));
  if (keys.size < machines.length) throw new Complaint(`${machines.length} machines have ${keys.size} volume keys.`);
}

/** In each of them, every machine uses another TPM, so two can run at a time. */
const trials = (workspace: Workspace, machines: readonly Encrypted[]): Trial[] => [
  {
    what: "boot with its own TPM",
    seen: "the disk opens",
    work: async ({ home, disk }) => {
      if ((await boot(workspace, { home, disk }, [loginPrompt, refusedLine])) === refusedLine)
        throw new Complaint("A machine's own TPM does not open its disk.");
    },
  },
  {
    what: "boot with the TPM of the next machine",
    seen: "the TPM does not open the disk",
    work: async (machine) => {
      const next = machines[(machines.indexOf(machine) + 1) % machines.length] ?? machine;
      await mustBeRefused(workspace, machine, next.home);
    },
  },
  {
    what: "boot with a changed argument of the kernel",
    seen: "the TPM does not open the disk",
    work: async (machine) => {
      await changeBoot(machine.raw, "rd.shell=0", "rd.shell=1");
      await mustBeRefused(workspace, machine, machine.home);
    },
  },
];

/** Boots a copy of the encrypted disk with that TPM. */
async function mustBeRefused(workspace: Workspace, { name, raw }: Encrypted, home: Home): Promise<void> {
  const disk = join(workspace.folder, `${name}-copy.qcow2`);
  await newDisk(raw, disk);
  if ((await boot(workspace, { home, disk }, [openedLine, refusedLine])) !== refusedLine)
    throw new Complaint("The TPM opens the disk.");
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
  return { name, home, disk, raw, recoveryKey: key };
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
