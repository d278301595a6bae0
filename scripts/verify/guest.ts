import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Arch } from "#lib/contract/index";
import type { Accel } from "../../builder-agent/src/sandbox.ts";
import { armHardware } from "../../builder-agent/src/testdrive/arm-machine.ts";
import { accelArguments } from "../../builder-agent/src/testdrive/machine.ts";
import { qemuPrograms } from "../../builder-agent/src/testdrive/session-sandbox.ts";
import { Complaint } from "../launch/complaint.ts";
import type { Boot } from "./boot.ts";
import { SerialConsole } from "./console.ts";
import { freePort } from "./free-port.ts";

export type Guest = AsyncDisposable & {
  console: SerialConsole;
  /** The loopback port of this host that is forwarded to a port of the guest. */
  portOf: (port: number) => number;
};

export type GuestStart = {
  boot: Pick<Boot, "args" | "restrict">;
  /** Default: a PC. */
  arch?: Arch;
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
  const { boot, arch = "x86_64", firmware, memoryMb, accel, ports, folder, signal } = start;
  const { board, screen } = arch === "aarch64" ? armHardware(accel) : pc(accel);
  const own = new Map<number, number>();
  for (const port of ports) own.set(port, await freePort());
  const forwards = [...own].map(([guest, host]) => `,hostfwd=tcp:127.0.0.1:${host}-:${guest}`).join("");
  const qemu = spawn(
    qemuPrograms[arch],
    [
      ["-nodefaults", "-no-user-config", ...board, "-m", `${memoryMb}M`],
      [...screen, "-display", "none", "-device", "virtio-rng-pci"],
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

const pc = (accel: Accel) => ({
  board: ["-machine", "pc", ...accelArguments(accel)],
  screen: ["-vga", "std"],
});

/** The files of a UEFI with CODE or VARS in their place, and Debian's package of them. The first that exists is used. */
const pcUefi = { files: ["/usr/share/OVMF/OVMF_*_4M.fd", "/usr/share/OVMF/OVMF_*.fd"], package: "ovmf" };
const armUefi = { files: ["/usr/share/AAVMF/AAVMF_*.fd"], package: "qemu-efi-aarch64" };

/** QEMU's arguments for UEFI, with settings that are not saved. */
export function uefi(arch: Arch = "x86_64"): string[] {
  const known = arch === "aarch64" ? armUefi : pcUefi;
  const found = known.files.find((file) => existsSync(file.replace("*", "CODE")));
  if (found === undefined) throw new Complaint(`There is no UEFI for QEMU. Install the package ${known.package}.`);
  const flashes = [
    `readonly=on,unit=0,file=${found.replace("*", "CODE")}`,
    `snapshot=on,unit=1,file=${found.replace("*", "VARS")}`,
  ];
  return flashes.flatMap((flash) => ["-drive", `if=pflash,format=raw,${flash}`]);
}
