import type { CachedImage } from "../image-cache.ts";
import { outputOf } from "../process.ts";
import type { SessionDir } from "./session-dir.ts";

export const overlayName = "overlay.qcow2";

/**
 * The drive that a session boots from, as QEMU's arguments. A disk is written to through an overlay that goes with the
 * session; a medium is only read. Every format is said and none probed: a guest's first sector must not be able to pass
 * for a qcow2 that names files of the host.
 */
export async function makeDrive(image: CachedImage, dir: SessionDir, signal: AbortSignal): Promise<string[]> {
  if (image.format === "iso") return medium(image.path);
  await outputOf(
    "qemu-img",
    ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", image.path, dir.file(overlayName)],
    signal,
  );
  return disk(image.path);
}

function disk(image: string): string[] {
  const node = {
    driver: "qcow2",
    "node-name": "disk",
    file: { driver: "file", filename: overlayName },
    backing: { driver: "raw", "read-only": true, file: { driver: "file", filename: image } },
    // What is thrown away need not survive a power cut.
    cache: { "no-flush": true },
    discard: "unmap",
  };
  return ["-blockdev", JSON.stringify(node), "-device", "virtio-blk-pci,drive=disk,bootindex=0"];
}

function medium(image: string): string[] {
  const node = {
    driver: "raw",
    "node-name": "medium",
    "read-only": true,
    file: { driver: "file", filename: image, "read-only": true },
  };
  return ["-blockdev", JSON.stringify(node), "-device", "ide-cd,drive=medium,bootindex=0"];
}
