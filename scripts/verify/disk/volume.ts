import { createDecipheriv } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";

/** A partition, in sectors. */
export interface Partition {
  start: number;
  size: number;
}

const sector = 512;
const Table = z.object({
  partitiontable: z.object({ partitions: z.array(z.object({ start: z.number(), size: z.number() })) }),
});

/** The partitions of a raw disk that encrypts itself: the root is the last one, and the one before has the header. */
export async function partitionsOf(disk: string): Promise<{ header: Partition; root: Partition }> {
  const { partitiontable } = Table.parse(JSON.parse(await command("sfdisk", ["--json", disk])));
  const [root, header] = partitiontable.partitions.toSorted((one, other) => other.start - one.start);
  if (!root || !header) throw new Complaint(`${disk} has no partition for the header of LUKS.`);
  return { header, root };
}

/** Copies a partition out of a raw disk. Holes stay holes. */
export const copyPartition = (disk: string, { start, size }: Partition, into: string): Promise<string> =>
  command("dd", [
    `if=${disk}`,
    `of=${into}`,
    "bs=1M",
    "iflag=skip_bytes,count_bytes",
    "conv=sparse",
    "status=none",
    `skip=${start * sector}`,
    `count=${size * sector}`,
  ]);

const mebibyteSectors = 2048;

/** Copies a partition, which begins and ends at whole MiB, out of a disk in qcow2, also while a machine has it. */
export const copyFromMachine = (disk: string, { start, size }: Partition, into: string): Promise<string> =>
  command("qemu-img", [
    "dd",
    // Reads the disk although the machine has locked it.
    "-U",
    "-f",
    "qcow2",
    "-O",
    "raw",
    `if=${disk}`,
    `of=${into}`,
    "bs=1M",
    `skip=${start / mebibyteSectors}`,
    `count=${(start + size) / mebibyteSectors}`,
  ]);

const Header = z.object({
  segments: z.record(
    z.string(),
    z.object({ type: z.string(), size: z.string(), flags: z.array(z.string()).default([]) }),
  ),
});

export interface Progress {
  /** The number of encrypted bytes. Infinity if all are encrypted. */
  bytes: number;
  /** Whether blocks are half written. cryptsetup then refuses to continue, unless it repairs them. */
  marked: boolean;
  /** Whether the log of the encryption has been removed, too. */
  finished: boolean;
}

/** The progress of the encryption, according to its header. */
export async function progressOf(header: string): Promise<Progress> {
  const { segments } = Header.parse(
    JSON.parse(await command("cryptsetup", ["luksDump", "--dump-json-metadata", header])),
  );
  const all = Object.values(segments);
  const [first] = all;
  const isEncrypted = first?.type === "crypt" && first.flags.length === 0;
  const bytes = first?.size === "dynamic" ? Infinity : Number(first?.size);
  return {
    bytes: isEncrypted ? bytes : 0,
    marked: all.some(({ flags }) => flags.includes("in-reencryption")),
    finished: isEncrypted && all.length === 1,
  };
}

/** The key that encrypts a root, as cryptsetup shows it to anyone who has the passphrase. */
export async function volumeKeyOf(disk: string, passphrase: string, folder: string): Promise<Buffer> {
  const own = mkdtempSync(join(folder, "key-"));
  const [header, given, key] = ["header", "passphrase", "key"].map((name) => join(own, name)) as [
    string,
    string,
    string,
  ];
  try {
    await copyPartition(disk, (await partitionsOf(disk)).header, header);
    writeFileSync(given, passphrase);
    const dump = ["luksDump", "--batch-mode", "--dump-volume-key", "--volume-key-file", key, "--key-file", given];
    await command("cryptsetup", [...dump, header]);
    return readFileSync(key);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

const chunkSectors = 8192;

/** Writes the decrypted root of a disk into a file: aes-xts-plain64 in sectors of 512 bytes. */
export async function decryptRoot(disk: string, root: Partition, key: Buffer, into: string): Promise<void> {
  await using from = await open(disk);
  await using to = await open(into, "w");
  const algorithm = key.length === 64 ? "aes-256-xts" : "aes-128-xts";
  const tweak = Buffer.alloc(16);
  for (let first = 0; first < root.size; first += chunkSectors) {
    const count = Math.min(chunkSectors, root.size - first);
    const bytes = Buffer.alloc(count * sector);
    await from.read(bytes, 0, bytes.length, (root.start + first) * sector);
    const plain = Buffer.alloc(bytes.length);
    for (let each = 0; each < count; each++) {
      tweak.writeBigUInt64LE(BigInt(first + each));
      const cipher = createDecipheriv(algorithm, key, tweak).setAutoPadding(false);
      cipher.update(bytes.subarray(each * sector, (each + 1) * sector)).copy(plain, each * sector);
    }
    await to.write(plain, 0, plain.length, first * sector);
  }
}

/** The files that differ between two file systems, as `diff` prints them. Empty if there is none. */
export async function differencesBetween(one: string, other: string, folder: string): Promise<string> {
  const places = [mkdtempSync(join(folder, "one-")), mkdtempSync(join(folder, "other-"))] as const;
  const script = String.raw`
    set -e
    mount -o ro,noload,loop "$1" "$3"
    mount -o ro,noload,loop "$2" "$4"
    find "$3" -xdev -type f | wc -l
    diff --recursive --brief --no-dereference "$3" "$4" || [ $? = 1 ]`;
  // The mounts end with the command.
  return await command("unshare", ["--mount", "bash", "-c", script, "diff", one, other, ...places]);
}

/** Replaces a text with another of the same length, in everything before the header: GRUB's configuration is there. */
export async function changeBoot(disk: string, from: string, to: string): Promise<void> {
  await using file = await open(disk, "r+");
  const { header } = await partitionsOf(disk);
  const bytes = Buffer.alloc(header.start * sector);
  await file.read(bytes, 0, bytes.length, 0);
  const found = [...bytes.toString("latin1").matchAll(new RegExp(RegExp.escape(from), "g"))];
  if (found.length === 0) throw new Complaint(`There is no ${from} in the boot partition.`);
  for (const { index } of found) await file.write(to, index, "latin1");
}
