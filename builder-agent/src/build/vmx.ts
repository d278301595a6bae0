import { writeFile } from "node:fs/promises";
import { outputOf } from "../process.ts";
import type { Machine } from "./machine.ts";

/** Turns the raw disk into a VMDK of one file that grows, which VMware's desktop products open as it is. */
export async function convertToVmdk(raw: string, vmdk: string, signal: AbortSignal): Promise<void> {
  // Both formats are said: a disk's first sector must not decide how it is read.
  await outputOf("qemu-img", ["convert", "-f", "raw", "-O", "vmdk", "-o", "adapter_type=ide", raw, vmdk], signal);
}

/** The virtual machine around the VMDK of the same name. */
export async function writeVmx(file: string, name: string, machine: Machine): Promise<void> {
  const lines = Object.entries(vmx(name, machine)).map(([key, value]) => `${key} = "${value}"\n`);
  await writeFile(file, lines.join(""));
}

/** The drive of the computer, at the second cable: to be connected when there is something in it. */
const hostDrive = {
  "ide1:0.present": "TRUE",
  "ide1:0.deviceType": "cdrom-raw",
  "ide1:0.fileName": "auto detect",
  "ide1:0.startConnected": "FALSE",
};

/** The disk at IDE, whose driver every kernel has. Hardware version 9: what VMware sold from 2012 on. */
const vmx = (name: string, { memoryMb, hasCdrom, is64Bit }: Machine) => ({
  ".encoding": "UTF-8",
  "config.version": "8",
  "virtualHW.version": "9",
  guestOS: is64Bit ? "other26xlinux-64" : "other26xlinux",
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
