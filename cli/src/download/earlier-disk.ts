import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { provenanceSuffix } from "../attest.ts";
import { readBlocks, type Blocks } from "../delta.ts";
import { digestOfFile, namesIn } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import { verifyBills } from "../verify/image.ts";

/** The disk of an earlier image on this machine, unpacked as long as this is not disposed of. */
export interface EarlierDisk extends Disposable {
  file: string;
  blocks: Blocks;
  /** The image or disk that it was found in. */
  source: string;
}

interface Place {
  folder: string;
  /** The image or disk that the user named. Undefined if the folder is searched instead. */
  given: string | undefined;
  keys: readonly PinnedKey[];
}

/** The place of a disk: the file itself, or that path in an archive. */
export interface Candidate {
  /** SHA-256 of the disk, as its image's provenance has it. */
  sha256: string;
  source: string;
  path?: string;
}

/** The disk with that SHA-256. Undefined if no candidate is this disk. */
export async function openDisk(
  known: readonly Candidate[],
  { sha256, block, folder }: { sha256: string; block: number; folder: string },
): Promise<EarlierDisk | undefined> {
  for (const { source, path } of known.filter((one) => one.sha256 === sha256)) {
    const disk = path === undefined ? { file: source, remove: () => {} } : await unpacked(source, path, folder);
    const blocks = disk && (await readBlocks(disk.file, block).catch(() => undefined));
    if (disk && blocks?.sha256 === sha256) return { file: disk.file, blocks, source, [Symbol.dispose]: disk.remove };
    disk?.remove();
  }
  return undefined;
}

/** The disks that are on this machine, if they have not changed since. */
export async function disksHere({ folder, given, keys }: Place): Promise<Candidate[]> {
  if (given !== undefined && !existsSync(given + provenanceSuffix)) {
    const sha256 = await digestOfFile(given, "sha256").catch(() => "");
    return [{ sha256, source: given }];
  }
  const found: Candidate[] = [];
  for (const image of given === undefined ? imagesIn(folder) : [given]) {
    // A damaged file next to an older image must not fail the download.
    const { disk } = (await verifyBills(image, keys).catch(() => undefined)) ?? {};
    if (!disk) continue;
    const { sha256, path } = disk;
    found.push({ sha256, source: join(folder, path) }, { sha256, source: image, path });
  }
  return found.filter(({ source }) => existsSync(source));
}

const imagesIn = (folder: string): string[] =>
  namesIn(folder)
    .filter((name) => name.endsWith(provenanceSuffix))
    .map((name) => join(folder, name.slice(0, -provenanceSuffix.length)));

const runFile = promisify(execFile);

/** Undefined if this machine cannot unpack it. The disk is next to its image, where there is room for disks. */
async function unpacked(
  image: string,
  path: string,
  folder: string,
): Promise<{ file: string; remove(): void } | undefined> {
  const into = mkdtempSync(join(folder, ".kiln-"));
  const remove = () => rmSync(into, { recursive: true, force: true });
  try {
    await runFile("tar", ["-xzf", image, "-C", into, "--", path]);
    return { file: join(into, path), remove };
  } catch {
    remove();
    return undefined;
  }
}
