import { stat } from "node:fs/promises";
import { imageFormats, type ImageType } from "../contract.ts";
import type { CachedImage } from "../image-cache.ts";
import { outputOf } from "../process.ts";
import type { SessionDir } from "./session-dir.ts";

export const overlayName = "overlay.qcow2";

/** The largest disk that an appliance may have. Unwritten parts take no space. */
const blankDiskSize = "1T";

/**
 * The drives of a session, as QEMU's arguments. Writes to a disk go to an overlay, which is deleted with the session. A
 * medium is read-only. An installation medium also gets a blank disk, from which the machine boots as soon as a system
 * is installed on it. Every format is given, never probed: otherwise a guest could write a first sector that looks like
 * a qcow2 which refers to files of the host.
 */
export async function makeDrives(
  {
    image,
    imageType,
    growsBy = 0,
  }: { image: Pick<CachedImage, "path" | "format">; imageType: ImageType; growsBy?: number },
  dir: SessionDir,
  signal: AbortSignal,
): Promise<string[]> {
  const create = (...args: string[]) => outputOf("qemu-img", ["create", "-q", "-f", "qcow2", ...args], signal);
  const overlay = dir.file(overlayName);
  if (image.format === "raw") {
    const { size } = await stat(image.path);
    await create("-F", "raw", "-b", image.path, overlay, String(size + growsBy));
    return disk(image.path);
  }
  if (imageFormats[imageType].product !== "installer") return medium(image.path);
  await create(overlay, blankDiskSize);
  return [...disk(null), ...medium(image.path)];
}

/** @param below the raw disk below the overlay, or null if there is none */
function disk(below: string | null): string[] {
  const node = {
    driver: "qcow2",
    "node-name": "disk",
    file: { driver: "file", filename: overlayName },
    backing: below && { driver: "raw", "read-only": true, file: { driver: "file", filename: below } },
    // A disposable disk need not survive a power cut.
    cache: { "no-flush": true },
    discard: "unmap",
  };
  // A failed write ends the session. Until then the guest must not continue.
  return ["-blockdev", JSON.stringify(node), "-device", "virtio-blk-pci,drive=disk,bootindex=0,werror=stop"];
}

function medium(image: string): string[] {
  const node = {
    driver: "raw",
    "node-name": "medium",
    "read-only": true,
    file: { driver: "file", filename: image, "read-only": true },
  };
  return ["-blockdev", JSON.stringify(node), "-device", "ide-cd,drive=medium,bootindex=1"];
}
