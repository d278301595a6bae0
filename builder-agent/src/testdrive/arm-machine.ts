import { copyFile } from "node:fs/promises";
import type { Accel } from "../sandbox.ts";
import type { SessionDir } from "./session-dir.ts";

/** The folder of Debian's package qemu-efi-aarch64. */
const aavmf = "/usr/share/AAVMF";
/** The file with the session's own UEFI variables, relative to its directory. */
const variablesName = "variables.fd";

/** QEMU's arguments for the UEFI of a machine for arm64, which has no BIOS. */
export async function makeArmFirmware(dir: SessionDir): Promise<string[]> {
  await copyFile(`${aavmf}/AAVMF_VARS.fd`, dir.file(variablesName));
  return [
    ["-drive", `if=pflash,unit=0,format=raw,readonly=on,file=${aavmf}/AAVMF_CODE.fd`],
    ["-drive", `if=pflash,unit=1,format=raw,file=${variablesName}`],
  ].flat();
}

/**
 * An emulated processor is a Cortex-A57, which every distribution supports: newer ones sign their pointers, which is
 * slow.
 */
const emulated = ["-accel", "tcg,tb-size=128", "-cpu", "cortex-a57"];

/** The devices of the machine. Its type has neither a VGA card nor a keyboard, so both are added. */
export const armHardware = (accel: Accel) => ({
  board: ["-machine", "virt", ...(accel === "kvm" ? ["-accel", "kvm", "-cpu", "host"] : emulated)],
  screen: ["-device", "virtio-gpu-pci"],
  others: ["-device", "usb-kbd"],
});
