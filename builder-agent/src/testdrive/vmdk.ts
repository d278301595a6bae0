import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { hasSucceeded, run } from "../process.ts";
import { asNobody } from "./rights.ts";

/** An archive that our builds do not make. They make one disk, and the files that describe a machine for it. */
export class HostileArchive extends Error {
  constructor(why: string) {
    super(`The image's archive was refused: ${why}.`);
    this.name = "HostileArchive";
  }
}

const rawFile = "raw";
const sectorBytes = 512;

/**
 * Converts an untrusted VMDK to a raw disk in the same `dir`, which the user nobody may write to. → the name of the raw disk
 *
 * A VMDK can name other files as its parts or as its parent. If its head gives its size, QEMU looks for no parts; and the command
 * line rules out a parent. In addition QEMU runs as the user nobody.
 */
export async function convertVmdk(
  dir: string,
  vmdk: string,
  { rawSize, signal }: { rawSize: number; signal: AbortSignal },
): Promise<string> {
  await checkHead(join(dir, vmdk), rawSize);
  const file = { driver: "file", filename: vmdk, "read-only": true };
  const source = `json:${JSON.stringify({ driver: "vmdk", "read-only": true, backing: null, file })}`;
  const convert = ["qemu-img", "convert", "-O", "raw", source, rawFile];
  const limits = [`--fsize=${rawSize}`, "--core=0", "--"];
  const said: string[] = [];
  const exit = await run(...asNobody("prlimit", [...limits, ...convert]), {
    cwd: dir,
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" },
    signal,
    onLine: (line) => void said.push(line),
  });
  if (hasSucceeded(exit)) return rawFile;
  throw new HostileArchive(`its disk cannot be converted (${said.slice(0, 3).join(" ").slice(0, 300)})`);
}

/** The head is "KDMV", version, flags, and the number of sectors in eight bytes. */
async function checkHead(vmdk: string, rawSize: number): Promise<void> {
  await using file = await open(vmdk, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
  if (buffer.toString("latin1", 0, 4) !== "KDMV") throw new HostileArchive("its disk is not a VMDK of one file");
  const bytes = buffer.readBigUInt64LE(12) * BigInt(sectorBytes);
  if (bytes !== BigInt(rawSize)) throw new HostileArchive(`its disk has ${bytes} bytes, announced were ${rawSize}`);
}
