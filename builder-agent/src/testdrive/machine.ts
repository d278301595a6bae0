import { checksPort, type Arch } from "../contract.ts";
import type { Accel } from "../sandbox.ts";
import { armHardware } from "./arm-machine.ts";
import { networkArguments } from "./guest-network.ts";

export interface Machine {
  testdriveId: number;
  /** Default: a PC. */
  arch?: Arch | undefined;
  accel: Accel;
  memoryMb: number;
  /** QEMU's arguments for the drives, from makeDrives. */
  drives: string[];
  /** QEMU's arguments for UEFI. Without them, the machine boots with BIOS. */
  firmware?: readonly string[] | undefined;
  /** The arguments of its TPM. Default: it has none. */
  tpm?: readonly string[] | undefined;
  /** The arguments from makeSeed; empty without a seed. */
  seed: readonly string[];
  /** The file below its drives. QEMU sees no other file of the agent outside its session's directory. */
  image: string;
  /** Whether it runs in a sandbox (session-sandbox.ts). */
  enclosed: boolean;
  hasNetwork: boolean;
  /** Whether it has the port for commands of checks. */
  hasCommands?: boolean | undefined;
  /** The guest's ports that can be reached, if it has a network. Default: 80. */
  ports?: readonly number[] | undefined;
  /** The largest size of the overlay. If the guest writes more, QEMU ends. */
  diskBytes: number;
  /** The VNC server for clients that do not come through the Worker. In a sandbox it listens on `clientsPort`. */
  vnc: { bindHost: string; port: number; password: string } | null;
}

/** The parts of QEMU's arguments that depend on the architecture. */
interface Hardware {
  board: string[];
  screen: string[];
  others: string[];
}

/** The arguments that the guest can notice. A saved state fits only a machine with exactly the same ones. */
export function machineArguments(machine: Machine): string[] {
  const { board, screen, others } = machine.arch === "aarch64" ? armHardware(machine.accel) : pcHardware(machine);
  return [
    ["-nodefaults", "-no-user-config"],
    [...board, "-smp", "1", "-m", `${machine.memoryMb}M`],
    machine.firmware ?? [],
    machine.tpm ?? [],
    networkArguments(machine),
    [...screen, "-display", "none", "-boot", "menu=off,strict=on"],
    ["-device", "virtio-rng-pci"],
    // Absolute positions, like in VNC. xHCI needs no polling, which would be slow under TCG.
    ["-device", "qemu-xhci", "-device", "usb-tablet"],
    others,
    machine.drives,
    machine.seed,
    machine.hasCommands ? commandsPort : [],
    // Standard output, because a socket loses what a guest prints before a client connects.
    ["-chardev", "stdio,id=serial,signal=off", "-serial", "chardev:serial"],
  ].flat();
}

/** The socket of the port for commands of checks. A name relative to the session's directory. */
export const commandsSocket = "commands.sock";

/** The last device, so that the others have the same places as in a testdrive. */
const commandsPort = [
  ["-chardev", `socket,id=commands,path=${commandsSocket},server=on,wait=off`],
  ["-device", "virtio-serial-pci", "-device", `virtserialport,chardev=commands,name=${checksPort}`],
].flat();

const pcHardware = ({ firmware, accel }: Machine): Hardware => ({
  board: ["-machine", firmware ? "q35,smm=on,vmport=off" : "pc,vmport=off", ...accelArguments(accel)],
  screen: ["-vga", "std"],
  // vmgenid signals a restored guest that it is a copy. Linux then reseeds its random numbers.
  others: ["-device", "vmgenid,guid=auto"],
});

/** Without tb-size, TCG's translations take up to 1 GiB of memory, even for a small guest. */
export function accelArguments(accel: Accel): string[] {
  return accel === "kvm"
    ? ["-accel", "kvm", "-cpu", "host"]
    : // Everything that TCG supports, because new distributions need x86-64-v2. Five-level page tables only make it slower.
      ["-accel", "tcg,tb-size=128", "-cpu", "max,la57=off"];
}
