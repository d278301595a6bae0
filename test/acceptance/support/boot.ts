import { startMachine } from "./machine.ts";

/** Longer than any boot, however many builds and emulated machines share the processors. */
export const longestBootSeconds = 800;

/** Starts a machine with these drives. Returns the output of its serial line as soon as it contains `expected`. */
export async function serialOf(drives: string[], expected: RegExp): Promise<string> {
  await using machine = startMachine(["-machine", "pc", "-m", "512M", "-boot", "menu=off,strict=on", ...drives]);
  return await machine.says(expected, longestBootSeconds);
}

interface Drive {
  driver?: "raw" | "vmdk";
  /** A QEMU device with its options. */
  device?: string;
  isReadOnly?: boolean;
}

/** The arguments of a drive. Its format is specified, never detected. */
export function driveOf(
  file: string,
  { driver = "raw", device = "virtio-blk-pci", isReadOnly = false }: Drive = {},
): string[] {
  const name = device.split(",")[0] ?? device;
  const node = { driver, "node-name": name, "read-only": isReadOnly, file: { driver: "file", filename: file } };
  const [model, ...options] = device.split(",");
  return ["-blockdev", JSON.stringify(node), "-device", [model, `drive=${name}`, ...options].join(",")];
}
