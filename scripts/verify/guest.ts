import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Accel } from "../../builder-agent/src/sandbox.ts";
import { accelArguments } from "../../builder-agent/src/testdrive/machine.ts";
import { Complaint } from "../launch/complaint.ts";
import type { Boot } from "./boot.ts";
import { SerialConsole } from "./console.ts";
import { freePort } from "./free-port.ts";

export type Guest = AsyncDisposable & {
  console: SerialConsole;
  /** The loopback port of this host that is forwarded to a port of the guest. */
  portOf: (port: number) => number;
};

type GuestStart = {
  boot: Pick<Boot, "args" | "restrict">;
  /** QEMU's arguments for UEFI. Empty for BIOS. */
  firmware: string[];
  memoryMb: number;
  accel: Accel;
  ports: readonly number[];
  /** The folder of the files that the arguments name by a relative path. */
  folder?: string;
  /** Ends the machine, and with it all waits for its serial line. */
  signal: AbortSignal;
};

/** Starts a machine with a serial line to type on. A testdrive's serial line can only be read. */
export async function startGuest(start: GuestStart): Promise<Guest> {
  const { boot, firmware, memoryMb, accel, ports, folder, signal } = start;
  const own = new Map<number, number>();
  for (const port of ports) own.set(port, await freePort());
  const forwards = [...own].map(([guest, host]) => `,hostfwd=tcp:127.0.0.1:${host}-:${guest}`).join("");
  const qemu = spawn(
    "qemu-system-x86_64",
    [
      ["-nodefaults", "-no-user-config", "-machine", "pc", ...accelArguments(accel), "-m", `${memoryMb}M`],
      ["-vga", "std", "-display", "none", "-device", "virtio-rng-pci"],
      ["-nic", `user,model=virtio-net-pci,restrict=${boot.restrict},ipv6=off${forwards}`],
      firmware,
      boot.args,
      ["-chardev", "stdio,id=serial,signal=off", "-serial", "chardev:serial"],
    ].flat(),
    { cwd: folder, stdio: ["pipe", "pipe", "inherit"], signal, killSignal: "SIGKILL" },
  );
  const ended = new Promise<void>((resolve) => qemu.on("error", () => resolve()).on("close", () => resolve()));
  return {
    console: new SerialConsole(qemu.stdout, qemu.stdin),
    portOf: (port) => own.get(port) ?? port,
    [Symbol.asyncDispose]: async () => {
      qemu.kill("SIGKILL");
      await ended;
    },
  };
}

const uefiFolder = "/usr/share/OVMF";
const uefiSizes = ["_4M", ""];

/** QEMU's arguments for UEFI, with settings that are not saved. */
export function uefi(): string[] {
  const size = uefiSizes.find((name) => existsSync(`${uefiFolder}/OVMF_CODE${name}.fd`));
  if (size === undefined) throw new Complaint(`There is no UEFI for QEMU in ${uefiFolder}. Install the package ovmf.`);
  const flashes = [
    `readonly=on,unit=0,file=${uefiFolder}/OVMF_CODE${size}.fd`,
    `snapshot=on,unit=1,file=${uefiFolder}/OVMF_VARS${size}.fd`,
  ];
  return flashes.flatMap((flash) => ["-drive", `if=pflash,format=raw,${flash}`]);
}
