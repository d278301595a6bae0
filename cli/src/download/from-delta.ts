import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { headerBytes, readHeader, type DeltaHeader } from "../delta.ts";
import { digestOfFile } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import type { Verified } from "../verify/image.ts";
import { findEarlierDisk } from "./earlier-disk.ts";
import { rebuildDisk } from "./rebuilt-disk.ts";
import { downloadTo, type ProgressReporter } from "./resumed.ts";

/** Follows the address of an image. */
const deltaSuffix = ".delta";

export interface WantedDisk {
  url: string;
  folder: string;
  signed: Verified;
  keys: readonly PinnedKey[];
  /** An earlier image or its disk. Undefined: one in the folder. */
  from: string | undefined;
}

export interface MadeDisk {
  file: string;
  /** The earlier image or disk, and the bytes of the delta. Undefined if the disk was there before. */
  made?: { from: string; downloaded_bytes: number };
}

/**
 * Makes the disk of an image from that of an earlier one, and compares it with the signed checksum. Undefined if there is
 * nothing to make it from, or if the result was wrong: then the whole image must be downloaded.
 */
export async function diskFromDelta(
  { url, folder, signed, keys, from: given }: WantedDisk,
  { report, note }: { report: ProgressReporter; note: (text: string) => void },
): Promise<MadeDisk | undefined> {
  const { disk } = signed;
  if (!disk || !isInside(disk.path)) return undefined;
  const target = join(folder, disk.path);
  // A disk that was started is another one, and is not replaced.
  if (existsSync(target)) return (await digestOfFile(target, "sha256")) === disk.sha256 ? { file: target } : undefined;
  const found = await headerAt(url + deltaSuffix);
  const { from } = found?.header ?? {};
  if (!found || from === undefined || found.header.disk.sha256 !== disk.sha256) return undefined;
  using earlier = await findEarlierDisk({ folder, sha256: from, block: found.header.block, given, keys });
  if (!earlier) {
    if (given !== undefined) note(`${given} is not the previous image. The whole image is downloaded.`);
    return undefined;
  }
  const file = join(folder, `${signed.file}.${signed.build_id}${deltaSuffix}.part`);
  const part = `${target}.part`;
  mkdirSync(dirname(target), { recursive: true });
  await downloadTo(file, url + deltaSuffix, report);
  try {
    const sha256 = await rebuildDisk(earlier, { file, header: found.header, headerBytes: found.bytes }, part);
    if (sha256 !== disk.sha256) throw new Error("the checksum of the result is wrong");
    renameSync(part, target);
    return { file: target, made: { from: earlier.source, downloaded_bytes: statSync(file).size } };
  } catch (error) {
    rmSync(part, { force: true });
    note(`${earlier.source} could not be updated: ${reasonOf(error)}. The whole image is downloaded.`);
    return undefined;
  } finally {
    rmSync(file, { force: true });
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether a path has only names that are neither hidden nor lead elsewhere. */
const isInside = (path: string): boolean =>
  path.split("/").every((name) => /^[^.\u0000-\u001F-][^\u0000-\u001F]*$/.test(name));

/** The header of a delta. Undefined if there is no delta: the service or the agent is older, or the image has no disk alone. */
async function headerAt(url: string): Promise<{ header: DeltaHeader; bytes: number } | undefined> {
  try {
    const answer = await fetch(url, { headers: { range: `bytes=0-${headerBytes - 1}` } });
    let start = Buffer.alloc(0);
    for await (const bytes of (answer.ok && answer.body) || []) {
      start = Buffer.concat([start, bytes]);
      if (start.length >= headerBytes) break;
    }
    return readHeader(start);
  } catch {
    // The download of the whole image reports what is wrong.
    return undefined;
  }
}
