import type { ImageType } from "../contract.ts";
import type { CachedImage } from "../image-cache.ts";
import { outputOf } from "../process.ts";
import type { SessionDir } from "./session-dir.ts";

export const overlayName = "overlay.qcow2";

/** As large as the disk of an appliance may be. Unwritten parts take no room. */
const blankDiskSize = "1T";

/**
 * The drives that a session has, as QEMU's arguments. A disk is written to through an overlay that goes with the session;
 * a medium is only read; one that installs has a blank disk before it, which starts as soon as something is on it. Every
 * format is said and none probed: a guest's first sector must not be able to pass for a qcow2 that names files of the host.
 */
export async function makeDrives(
  { image, imageType }: { image: CachedImage; imageType: ImageType },
  dir: SessionDir,
  signal: AbortSignal,
): Promise<string[]> {
  const create = (...args: string[]) => outputOf("qemu-img", ["create", "-q", "-f", "qcow2", ...args], signal);
  const overlay = dir.file(overlayName);
  if (image.format === "raw") {
    await create("-F", "raw", "-b", image.path, overlay);
    return disk(image.path);
  }
  if (imageType !== "oemiso") return medium(image.path);
  await create(overlay, blankDiskSize);
  return [...disk(null), ...medium(image.path)];
}

/** `below`: the raw disk under the overlay; null: none. */
function disk(below: string | null): string[] {
  const node = {
    driver: "qcow2",
    "node-name": "disk",
    file: { driver: "file", filename: overlayName },
    backing: below && { driver: "raw", "read-only": true, file: { driver: "file", filename: below } },
    // What is thrown away need not survive a power cut.
    cache: { "no-flush": true },
    discard: "unmap",
  };
  // A refused write ends the session; until that is done its guest must not go on.
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
