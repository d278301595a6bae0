import { stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sizeIn, type Arch, type Conversion, type FrozenInput } from "../contract.ts";
import { outputOf } from "../process.ts";
import { makeReproducible } from "./reproducible-disk.ts";
import { writeStreamedVmdk } from "./streamed-vmdk.ts";

/** A virtual machine, as the configuration file next to a disk describes it. */
export interface Machine {
  memoryMb: number;
  hasCdrom: boolean;
  arch: Arch;
}

/** Used for an input from an older Worker, without these settings. */
const usualMemoryMb = 512;

export const machineOf = ({ appliance, configuration }: FrozenInput): Machine => ({
  memoryMb: configuration?.memoryMb ?? usualMemoryMb,
  hasCdrom: configuration?.cdrom ?? false,
  arch: appliance.arch,
});

interface Converting {
  conversion: Conversion;
  to: string;
  /** Determines the identifiers of the disk. Without it, they are new each time. */
  seed?: string | undefined;
  signal: AbortSignal;
}

/** Converts a raw disk. Both formats are given, so that a disk's first sector cannot decide how it is read. */
export async function convertDisk(raw: string, { conversion, to, seed, signal }: Converting): Promise<void> {
  const { driver, options, isStreamed } = conversion;
  const how = options.length === 0 ? [] : ["-o", options.join(",")];
  if (isStreamed) await writeStreamedVmdk(raw, to, signal);
  else await outputOf("qemu-img", ["convert", "-f", "raw", "-O", driver, ...how, raw, to], signal);
  if (seed !== undefined) await makeReproducible(to, { driver, seed });
  if (conversion.multipleOf !== undefined) await truncate(to, sizeIn(conversion, (await stat(to)).size));
}

/** A disk, and the virtual machine that gets it. */
export interface DescribedMachine {
  /** The directory of the disk, for the files that describe the machine. */
  dir: string;
  name: string;
  /** The path of the disk in its container. */
  disk: string;
  /** Bytes of the raw disk. */
  rawSize: number;
  machine: Machine;
}

/** Describes the virtual machine of the VMDK with the same name. */
export async function writeVmx({ dir, name, machine }: DescribedMachine): Promise<string[]> {
  const lines = Object.entries(vmx(name, machine)).map(([key, value]) => `${key} = "${value}"\n`);
  await writeFile(join(dir, `${name}.vmx`), lines.join(""));
  return [`${name}.vmx`];
}

/** The host's CD drive, on the second channel, not connected at power-on. */
const hostDrive = {
  "ide1:0.present": "TRUE",
  "ide1:0.deviceType": "cdrom-raw",
  "ide1:0.fileName": "auto detect",
  "ide1:0.startConnected": "FALSE",
};

/**
 * The disk is on IDE, because every kernel has a driver for that. Hardware version 9 is that of VMware's products since
 * 2012.
 */
const vmx = (name: string, { memoryMb, hasCdrom, arch }: Machine) => ({
  ".encoding": "UTF-8",
  "config.version": "8",
  "virtualHW.version": "9",
  guestOS: arch === "i586" ? "other26xlinux" : "other26xlinux-64",
  displayName: name,
  numvcpus: "1",
  memsize: String(memoryMb),
  "ide0:0.present": "TRUE",
  "ide0:0.fileName": `${name}.vmdk`,
  ...(hasCdrom && hostDrive),
  "ethernet0.present": "TRUE",
  "ethernet0.connectionType": "nat",
  "ethernet0.addressType": "generated",
  "ethernet0.virtualDev": "e1000",
  "floppy0.present": "FALSE",
});

/** Configures a guest with BIOS (HVM), for `xl create` in the folder of the raw disk with the same name. */
export async function writeXlConfiguration({ dir, name, machine }: DescribedMachine): Promise<string[]> {
  await writeFile(
    join(dir, `${name}.cfg`),
    [
      `name = "${name}"`,
      `type = "hvm"`,
      `memory = ${machine.memoryMb}`,
      `vcpus = 1`,
      `disk = [ "format=raw, vdev=xvda, access=rw, target=${name}.raw" ]`,
      `vif = [ "" ]`,
      `boot = "c"`,
      `vnc = 1`,
      `serial = "pty"`,
      "",
    ].join("\n"),
  );
  return [`${name}.cfg`];
}
