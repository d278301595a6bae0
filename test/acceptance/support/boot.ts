import { spawn } from "node:child_process";
import { qemuProgram } from "../../../builder-agent/src/testdrive/walls.ts";
import { missedItsTimer } from "./guest.ts";

/** Longer than any boot, however many builds and emulated machines share the processors. */
const longestBootSeconds = 800;

/** Starts a machine with these drives and returns what its serial line printed, as soon as it contains `until`. */
export async function serialOf(
  drives: string[],
  until: RegExp,
  { seconds = longestBootSeconds, cwd }: { seconds?: number; cwd?: string } = {},
): Promise<string> {
  const machine = [
    "-nodefaults",
    "-no-user-config",
    "-machine",
    "pc",
    "-accel",
    "tcg,tb-size=128",
    "-cpu",
    "max,la57=off",
  ];
  const outside = [
    "-m",
    "512M",
    "-boot",
    "menu=off,strict=on",
    "-display",
    "none",
    "-vga",
    "std",
    "-chardev",
    "stdio,id=serial,signal=off",
  ];
  const child = spawn(qemuProgram, [...machine, ...outside, "-serial", "chardev:serial", ...drives], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd,
    timeout: seconds * 1000,
    killSignal: "SIGKILL",
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("latin1");
    if (until.test(output) || missedItsTimer(output)) child.kill("SIGKILL");
  });
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString("latin1")));
  await new Promise((resolve) => child.on("close", resolve));
  return missedItsTimer(output) ? await serialOf(drives, until, { seconds, ...(cwd && { cwd }) }) : output;
}

interface Drive {
  driver?: "raw" | "vmdk";
  /** QEMU's device with its options. */
  device?: string;
  isReadOnly?: boolean;
}

/** The arguments of a drive; its format is given, never detected. */
export function driveOf(
  file: string,
  { driver = "raw", device = "virtio-blk-pci", isReadOnly = false }: Drive = {},
): string[] {
  const name = device.split(",")[0] ?? device;
  const node = { driver, "node-name": name, "read-only": isReadOnly, file: { driver: "file", filename: file } };
  const [model, ...options] = device.split(",");
  return ["-blockdev", JSON.stringify(node), "-device", [model, `drive=${name}`, ...options].join(",")];
}
