import { type FileHandle, open } from "node:fs/promises";
import { Complaint } from "../../launch/complaint.ts";

/** A program in a chain of trust, by the one that checks it. */
export type Program = keyof typeof checked;

/** The programs that Debian signs. */
export const debianChain: readonly Program[] = ["shim", "GRUB", "kernel"];

/**
 * The programs that must be refused if one byte has changed, and the message of the firmware, shim or GRUB in that
 * case.
 */
export const checked = {
  shim: { component: "shim", refusal: /Access Denied/ },
  GRUB: { component: "grub", refusal: /Verification failed/ },
  kernel: { component: undefined, refusal: /bad shim signature/ },
  "the unified kernel": { component: "systemd-stub", refusal: /Access Denied/ },
} as const;

const sector = 512;
const chunkBytes = 4 * 1024 * 1024;
const headerBytes = 4096;
/** The offsets of a PE header's fields, for 64 bits. */
const field = { programHeader: 60, sections: 6, optionalSize: 20, optional: 24, signatureSize: 172 };
const section = { bytes: 40, rawPointer: 20, name: 8 };
/** The position of the name of a Linux kernel's own header. */
const linuxName = { text: "HdrS", at: 0x202 };

/** A signed program for UEFI in a raw disk or a medium. */
interface Found {
  program: Program;
  /** The position of a byte of the program's code. */
  codeAt: number;
}

/** Changes one byte in each copy of a program in a raw disk or a medium. Returns the number of copies. */
export async function changeByte(image: string, program: Program): Promise<number> {
  await using file = await open(image, "r+");
  let count = 0;
  for await (const found of signedProgramsIn(file)) {
    if (found.program !== program) continue;
    const byte = await bytesAt(file, found.codeAt, 1);
    await file.write(Buffer.from([byte.readUInt8(0) ^ 1]), 0, 1, found.codeAt);
    count++;
  }
  if (count === 0) throw new Complaint(`There is no signed ${program} in ${image}.`);
  return count;
}

/** Every file begins at a sector, whatever the file system. */
async function* signedProgramsIn(file: FileHandle): AsyncGenerator<Found> {
  const { size } = await file.stat();
  for (let start = 0; start < size; start += chunkBytes) {
    const chunk = await bytesAt(file, start, chunkBytes);
    for (let at = 0; at + 1 < chunk.length; at += sector) {
      if (chunk.toString("latin1", at, at + 2) !== "MZ") continue;
      const found = await programAt(file, start + at);
      if (found) yield found;
    }
  }
}

async function programAt(file: FileHandle, start: number): Promise<Found | undefined> {
  const header = await bytesAt(file, start, headerBytes);
  const at = header.length < headerBytes ? headerBytes : header.readUInt32LE(field.programHeader);
  if (at + field.signatureSize + 4 > headerBytes || header.toString("latin1", at, at + 4) !== "PE\0\0")
    return undefined;
  if (header.readUInt32LE(at + field.signatureSize) === 0) return undefined;
  const sections = sectionsOf(header, at);
  const [code] = sections.values();
  const program = isLinux(header) ? "kernel" : await loaderOf(file, start, sections);
  return code !== undefined && program ? { program, codeAt: start + code } : undefined;
}

const isLinux = (header: Buffer): boolean =>
  header.toString("latin1", linuxName.at, linuxName.at + linuxName.text.length) === linuxName.text;

/** The sections' positions in the file, by name, in their order. */
function sectionsOf(header: Buffer, at: number): Map<string, number> {
  const first = at + field.optional + header.readUInt16LE(at + field.optionalSize);
  const count = Math.min(header.readUInt16LE(at + field.sections), Math.floor((headerBytes - first) / section.bytes));
  return new Map(
    Array.from({ length: Math.max(0, count) }, (_, each) => {
      const begins = first + each * section.bytes;
      const name = header.toString("latin1", begins, begins + section.name).replace(/\0+$/, "");
      return [name, header.readUInt32LE(begins + section.rawPointer)];
    }),
  );
}

/** The name of a boot loader is in the second line of its section .sbat. MokManager's is that of shim. */
async function loaderOf(file: FileHandle, start: number, sections: Map<string, number>): Promise<Program | undefined> {
  const sbat = sections.get(".sbat");
  if (sbat === undefined) return undefined;
  const [, line = ""] = (await bytesAt(file, start + sbat, sector)).toString("latin1").split("\n");
  const [component] = line.split(",");
  return (Object.keys(checked) as Program[]).find((program) => checked[program].component === component);
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
