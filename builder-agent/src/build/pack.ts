import { createReadStream } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { partBytes } from "../contract.ts";
import type { CacheableImage } from "../image-cache.ts";
import { openDigests } from "../upload/checksum.ts";
import { PartedFile } from "../upload/parted-file.ts";
import type { UploadFile } from "../upload/upload.ts";
import { packFolder } from "./archive.ts";
import type { BuiltImage } from "./image.ts";
import { makePxeTree } from "./pxe.ts";
import type { KiwiResult } from "./result.ts";
import { convertToVmdk, writeVmx } from "./vmx.ts";
import { writeXlConfiguration } from "./xl.ts";

/** The file to download, and what a testdrive can start from. */
export interface PackedImage extends UploadFile {
  compressed: boolean;
  /** Undefined where there is neither disk nor medium. */
  bootable: CacheableImage | undefined;
}

export type Packable = KiwiResult & Pick<BuiltImage, "machine" | "sourceDate">;

export interface Packing {
  workDir: string;
  signal: AbortSignal;
  /** Called when the file begins to grow. Not called for a medium, which exists already. */
  onFile?: (file: PartedFile) => void;
}

/** A medium stays as it is; all else becomes `NAME.tar.gz` with a folder NAME inside. */
export async function packImage(built: Packable, name: string, packing: Packing): Promise<PackedImage> {
  const { workDir, signal, onFile } = packing;
  if (built.format === "iso") return await nameMedium(built.image, name, signal);
  const dir = join(workDir, "pack");
  await mkdir(join(dir, name), { recursive: true });
  const bootable = await fillFolder(built, { dir: join(dir, name), name, signal });
  await using file = await PartedFile.create(workDir, `${name}.tar.gz`);
  onFile?.(file);
  const packed = await packFolder({ dir, name, sourceDate: built.sourceDate }, file, signal);
  return { ...packed, compressed: true, bootable };
}

interface Folder {
  dir: string;
  name: string;
  signal: AbortSignal;
}

/** → where the disk itself is now. */
async function fillFolder(built: Packable, folder: Folder): Promise<CacheableImage | undefined> {
  const { dir, name, signal } = folder;
  const at = (ending: string) => join(dir, `${name}.${ending}`);
  if (built.format === "net") {
    await makePxeTree(built, dir, name);
    return undefined;
  }
  if (built.imageType === "vmx") {
    await convertToVmdk(built.image, at("vmdk"), signal);
    await writeVmx(at("vmx"), name, built.machine);
    return { path: built.image, format: "raw" };
  }
  if (built.imageType === "xen") await writeXlConfiguration(at("cfg"), name, built.machine);
  await rename(built.image, at("raw"));
  return { path: at("raw"), format: "raw" };
}

async function nameMedium(path: string, name: string, signal: AbortSignal): Promise<PackedImage> {
  const digests = openDigests(partBytes);
  await pipeline(createReadStream(path), digests.through, drain, { signal });
  // The name of an `iso` ends so already: <appliance>.<arch>-<version>.<image_type>.
  const fileName = name.endsWith(".iso") ? name : `${name}.iso`;
  return { path, fileName, digests: digests.result(), compressed: false, bootable: { path, format: "iso" } };
}

async function drain(source: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of source);
}
