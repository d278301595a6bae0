import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readBlocks } from "../delta.ts";
import { digestOfFile } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import type { Verified } from "../verify/image.ts";
import { deltasTo, type RemoteDelta } from "./delta-chain.ts";
import { disksHere, openDisk, type EarlierDisk } from "./earlier-disk.ts";
import { rebuildDisk } from "./rebuilt-disk.ts";
import { downloadTo, type ProgressReporter } from "./resumed.ts";

export interface WantedDisk {
  url: string;
  folder: string;
  signed: Verified;
  keys: readonly PinnedKey[];
  /** An earlier image or its disk; undefined if the folder is searched for one. */
  from: string | undefined;
  /** The addresses of the older images, newest first. */
  older: AsyncIterable<string>;
}

export interface MadeDisk {
  file: string;
  /** The earlier image or disk, and the number and the bytes of the deltas. Undefined if the disk was there before. */
  made?: { from: string; deltas: number; downloaded_bytes: number };
}

/**
 * Makes the disk of an image from that of an earlier one, and compares it with the signed checksum. Undefined if there
 * is nothing to make it from, or if the result was wrong: then the whole image must be downloaded.
 */
export async function diskFromDelta(
  { url, folder, signed, keys, from: given, older }: WantedDisk,
  { report, note }: { report: ProgressReporter; note: (text: string) => void },
): Promise<MadeDisk | undefined> {
  const { disk } = signed;
  if (!disk || !isInside(disk.path)) return undefined;
  const target = join(folder, disk.path);
  // A disk that was booted has changed, and is not replaced.
  if (existsSync(target)) return (await digestOfFile(target, "sha256")) === disk.sha256 ? { file: target } : undefined;
  const here = (await disksHere({ folder, given, keys })).filter(({ sha256 }) => sha256 !== disk.sha256);
  if (here.length === 0) return undefined;
  const isHere = (sha256: string) => here.some((one) => one.sha256 === sha256);
  const deltas = await deltasTo({ url, sha256: disk.sha256, isHere, older });
  const [{ header } = {}] = deltas ?? [];
  using earlier =
    header?.from === undefined ? undefined : await openDisk(here, { sha256: header.from, block: header.block, folder });
  if (!deltas || !earlier) {
    if (given !== undefined) note(`${given} has no delta that leads to this image. The whole image is downloaded.`);
    return undefined;
  }
  mkdirSync(dirname(target), { recursive: true });
  const packed = join(folder, `${signed.file}.${signed.build_id}.delta.part`);
  try {
    renameSync(await applied(deltas, earlier, { target, packed, report }), target);
    const bytes = deltas.reduce((sum, delta) => sum + delta.bytes, 0);
    return { file: target, made: { from: earlier.source, deltas: deltas.length, downloaded_bytes: bytes } };
  } catch (error) {
    note(`${earlier.source} could not be updated: ${reasonOf(error)}. The whole image is downloaded.`);
    return undefined;
  } finally {
    for (const file of [packed, ...deltas.map((_, nth) => partOf(target, nth))]) rmSync(file, { force: true });
  }
}

/** The path of the disk that a delta of a chain makes. */
const partOf = (target: string, nth: number): string => `${target}.${nth}.part`;

interface Applying {
  target: string;
  /** The path where each delta is stored. */
  packed: string;
  report: ProgressReporter;
}

/** Makes one disk after the other, each from the one before. Returns the file of the last. */
async function applied(
  deltas: readonly RemoteDelta[],
  earlier: Pick<EarlierDisk, "file" | "blocks">,
  { target, packed, report }: Applying,
): Promise<string> {
  let from = earlier;
  for (const [nth, { url, header, headerBytes }] of deltas.entries()) {
    const into = partOf(target, nth);
    await downloadTo(packed, url, report);
    const sha256 = await rebuildDisk(from, { file: packed, header, headerBytes }, into);
    rmSync(packed);
    if (sha256 !== header.disk.sha256) throw new Error("the checksum of the result is wrong");
    if (from !== earlier) rmSync(from.file);
    const next = deltas[nth + 1];
    if (next) from = { file: into, blocks: await readBlocks(into, next.header.block) };
  }
  return partOf(target, deltas.length - 1);
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether a path has only names that are neither hidden nor lead elsewhere. */
const isInside = (path: string): boolean =>
  path.split("/").every((name) => /^[^.\u0000-\u001F-][^\u0000-\u001F]*$/.test(name));
