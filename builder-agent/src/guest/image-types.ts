import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { getParts, type Product } from "../run/result.ts";
import type { ImageType } from "../contract.ts";
import { BuildFailure } from "../run/failure.ts";
import { sentenceOf } from "../log.ts";

/** The bytes that identify a file as a valid part of an image. */
interface Mark {
  position: number;
  /** The accepted bytes, as hex. */
  bytes: readonly string[];
  what: string;
}

const disk: Mark = { position: 510, bytes: ["55aa"], what: "a disk" };
const medium: Mark = { position: 0x8001, bytes: ["4344303031"], what: "a medium" };
const archive: Mark = { position: 257, bytes: ["7573746172"], what: "a tar archive" };
const kernel: Mark = { position: 0x202, bytes: ["48647253"], what: "a kernel" };
const root: Mark = { position: 0, bytes: ["68737173"], what: "a root file system" };
/** gzip, xz, zstd or plain cpio. */
const initial: Mark = {
  position: 0,
  bytes: ["1f8b", "fd377a585a00", "28b52ffd", "303730373031"],
  what: "an initial archive",
};

/** rpm's list of an image has about two hundred bytes per package. The agent and the Worker read it as a whole. */
const maxListBytes = 4 * 1024 * 1024;

/**
 * Refuses a result that KIWI would not produce for that type: a guest may report success and call anything an image.
 */
export async function checkImages(target: string, imageType: ImageType): Promise<void> {
  const { product, packages } = await getParts(target, imageType).catch((error: unknown) => {
    throw failed(`The build of ${imageType} ended without its files: ${sentenceOf(error)}.`);
  });
  for (const [path, mark] of marksOf(product)) {
    if (await hasMark(path, mark)) continue;
    throw failed(`The build of ${imageType} left a file ${basename(path)} that is not ${mark.what}.`);
  }
  if ((await stat(packages)).size > maxListBytes)
    throw failed(`The build of ${imageType} left a list of packages that is too large.`);
}

const marks = { raw: disk, iso: medium, tar: archive } as const;

/** The files of a result that are used. The disk next to its medium is not used. */
function marksOf(product: Product): [path: string, mark: Mark][] {
  if (product.format !== "net") return [[product.image, marks[product.format]]];
  return [
    [product.image, root],
    [product.kernel, kernel],
    [product.initrd, initial],
  ];
}

async function hasMark(path: string, { position, bytes }: Mark): Promise<boolean> {
  const found = await bytesAt(path, position, 8);
  return bytes.some((good) => found.startsWith(good));
}

/** The bytes as hex. Empty if there is no such file. */
async function bytesAt(path: string, position: number, length: number): Promise<string> {
  await using file = await open(path).catch(() => undefined);
  if (!file) return "";
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString("hex", 0, bytesRead);
}

const failed = (reason: string) => new BuildFailure({ kind: "failed", reason });
