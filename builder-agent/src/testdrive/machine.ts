import { networkArguments } from "./guest-network.ts";
import type { Accel } from "./accel.ts";

export interface Machine {
  testdriveId: number;
  accel: Accel;
  memoryMb: number;
  /** From makeDrives. */
  drives: string[];
  /** The file under its drives; all that it sees of the agent's files outside of its session's directory. */
  image: string;
  /** Whether it runs behind walls (walls.ts). */
  enclosed: boolean;
  hasNetwork: boolean;
  /** How large a file of this machine may become: its overlay. QEMU ends when its guest wants more. */
  diskBytes: number;
  /** The second VNC server, for clients outside of the Worker. Behind walls it listens at a place of its own. */
  vnc: { bindHost: string; port: number; password: string } | null;
}

/** All that the guest can see of its machine. A saved state fits only a machine of the very same ones. */
export function machineArguments(machine: Machine): string[] {
  return [
    ["-nodefaults", "-no-user-config"],
    ["-machine", "pc,vmport=off", ...accelArguments(machine.accel), "-smp", "1", "-m", `${machine.memoryMb}M`],
    networkArguments(machine),
    ["-vga", "std", "-display", "none", "-boot", "menu=off,strict=on"],
    // The second one tells a guest that it is a copy: Linux then reseeds its random numbers.
    ["-device", "virtio-rng-pci", "-device", "vmgenid,guid=auto"],
    // Absolute positions, as VNC has them. xHCI works without polling, which under TCG costs a guest its time.
    ["-device", "qemu-xhci", "-device", "usb-tablet"],
    machine.drives,
    // Standard output, because a socket loses what a guest prints before a client connects.
    ["-chardev", "stdio,id=serial,signal=off", "-serial", "chardev:serial"],
  ].flat();
}

/** Without tb-size TCG's translations take up to 1 GiB of the host's memory whatever the guest's size. */
export function accelArguments(accel: Accel): string[] {
  return accel === "kvm"
    ? ["-accel", "kvm", "-cpu", "host"]
    : // All that TCG can, because new distributions want x86-64-v2; page tables of five levels only make it slower.
      ["-accel", "tcg,tb-size=128", "-cpu", "max,la57=off"];
}
