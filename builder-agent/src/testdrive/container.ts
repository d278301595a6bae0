import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { sizeIn, type Container, type Conversion } from "../contract.ts";
import { hasSucceeded, run } from "../process.ts";
import { sandboxedAsNobody } from "./session-sandbox.ts";

/**
 * Thrown for an archive that no build of Kiln makes. An archive of a build contains one disk, and the files that
 * describe a machine for it.
 */
export class HostileArchive extends Error {
  constructor(why: string) {
    super(`The image's archive was refused: ${why}.`);
    this.name = "HostileArchive";
  }
}

interface Converting {
  conversion: Conversion;
  /** Bytes of the raw disk. */
  rawSize: number;
  signal: AbortSignal;
}

const rawFile = "raw";

/**
 * The largest size of a container with a disk. Tables take a thousandth, and the heads of compressed pieces a
 * hundredth; VHDX and others begin with some megabytes.
 */
export const maxBytesIn = ({ conversion }: Container, rawSize: number): number =>
  conversion === undefined ? rawSize : sizeIn(conversion, rawSize) + Math.ceil(rawSize / 50) + 16 * 1024 * 1024;

/**
 * Converts an untrusted disk to a raw disk in the same `dir`, which the user nobody may write to. Returns the name of
 * the raw disk.
 *
 * Some formats can name other files as parents, parts or data. The check of the file's marks rules that out, and so
 * does the command line. In addition, QEMU runs as the user nobody, and sees no other files of this host if bubblewrap
 * works.
 */
export async function convertToRaw(dir: string, disk: string, converting: Converting): Promise<string> {
  await checkHead(join(dir, disk), converting);
  const { conversion, rawSize, signal } = converting;
  const file = { driver: "file", filename: disk, "read-only": true };
  const mayHaveParent = parented.has(conversion.driver) && { backing: null };
  const source = `json:${JSON.stringify({ driver: conversion.driver, "read-only": true, ...mayHaveParent, file })}`;
  const limited = [
    `--fsize=${sizeIn(conversion, rawSize)}`,
    "--core=0",
    "--",
    "qemu-img",
    "convert",
    "-O",
    "raw",
    source,
    rawFile,
  ];
  const said: string[] = [];
  const exit = await run(...(await sandboxedAsNobody(dir, "prlimit", limited)), {
    cwd: dir,
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" },
    signal,
    onLine: (line) => void said.push(line),
  });
  if (!hasSucceeded(exit))
    throw new HostileArchive(`its disk cannot be converted (${said.slice(0, 3).join(" ").slice(0, 300)})`);
  if (conversion.multipleOf !== undefined) await shrink(join(dir, rawFile), converting);
  return rawFile;
}

/** Undoes the growth of a disk by its conversion. */
async function shrink(path: string, { conversion, rawSize }: Converting): Promise<void> {
  await using file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
  const { size } = await file.stat();
  const grown = sizeIn(conversion, rawSize);
  if (size !== grown) throw new HostileArchive(`its disk has ${size} bytes instead of ${grown}`);
  await file.truncate(rawSize);
}

/** QEMU's drivers that know parents. Others refuse the option. */
const parented: ReadonlySet<string> = new Set(["vmdk", "qcow2"]);

async function checkHead(path: string, { conversion, rawSize }: Converting): Promise<void> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const { driver, marks, size } = conversion;
  for (const { at, hex } of marks) {
    const found = await bytesAt(file, at, hex.length / 2);
    if (found.toString("hex") !== hex) throw new HostileArchive(`its disk is not a ${driver} of one file`);
  }
  if (!size) return;
  const field = await bytesAt(file, size.at, 8);
  const units = size.order === "little" ? field.readBigUInt64LE() : field.readBigUInt64BE();
  const bytes = units * BigInt(size.unit);
  if (bytes !== BigInt(rawSize))
    throw new HostileArchive(`its disk has ${bytes} bytes instead of the announced ${rawSize}`);
}

/** Bytes after the end of the file are zero. */
async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const from = at < 0 ? Math.max(0, (await file.stat()).size + at) : at;
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer;
}
