import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { provenanceSuffix } from "../attest.ts";
import { readBlocks, type Blocks } from "../delta.ts";
import { namesIn } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import { verifyBills } from "../verify/image.ts";

/** The disk of an earlier image on this machine, unpacked as long as this is not disposed of. */
export interface EarlierDisk extends Disposable {
  file: string;
  blocks: Blocks;
  /** The image or disk that it was found in. */
  source: string;
}

interface Sought {
  folder: string;
  /** SHA-256 of the disk. */
  sha256: string;
  /** The size of its blocks. */
  block: number;
  /** The image or disk that the user named. */
  given: string | undefined;
  keys: readonly PinnedKey[];
}

/** Where the disk may be: it is the file itself, or it has that path in an archive. */
interface Candidate {
  source: string;
  path?: string;
}

/** The disk with that SHA-256. Undefined if it is neither the given one nor in the folder, as a disk or in an image. */
export async function findEarlierDisk(sought: Sought): Promise<EarlierDisk | undefined> {
  for (const { source, path } of await candidates(sought)) {
    const disk = path === undefined ? { file: source, remove: () => {} } : await unpacked(source, path, sought.folder);
    const blocks = disk && (await readBlocks(disk.file, sought.block).catch(() => undefined));
    if (disk && blocks?.sha256 === sought.sha256)
      return { file: disk.file, blocks, source, [Symbol.dispose]: disk.remove };
    disk?.remove();
  }
  return undefined;
}

async function candidates({ folder, sha256, given, keys }: Sought): Promise<Candidate[]> {
  if (given !== undefined && !existsSync(given + provenanceSuffix)) return [{ source: given }];
  const images = given === undefined ? imagesIn(folder) : [given];
  const found: Candidate[] = [];
  for (const image of images) {
    // A damaged file next to an older image is no reason to fail.
    const { disk } = (await verifyBills(image, keys).catch(() => undefined)) ?? {};
    if (disk?.sha256 !== sha256) continue;
    found.push({ source: join(folder, disk.path) }, { source: image, path: disk.path });
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
