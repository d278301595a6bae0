import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ImageType } from "../contract.ts";
import { BuildFailure } from "../build/build-failure.ts";

interface Mark {
  /** Whether it is about a file, by its name and those of all. */
  of: (name: string, all: ReadonlySet<string>) => boolean;
  position: number;
  /** What may stand there, as hex. */
  bytes: readonly string[];
  what: string;
}

const ending = (text: string) => (name: string) => name.endsWith(text);

/** What stands where in the files that KIWI makes. */
const marks: readonly Mark[] = [
  { of: ending(".raw"), position: 510, bytes: ["55aa"], what: "a disk" },
  { of: ending(".iso"), position: 0x8001, bytes: ["4344303031"], what: "a medium" },
  // The parts of a network tree: a kernel says HdrS, an archive is gzip, xz, zstd or plain cpio, and a root is a squashfs.
  { of: ending(".kernel"), position: 0x202, bytes: ["48647253"], what: "a kernel" },
  {
    of: ending(".initrd"),
    position: 0,
    bytes: ["1f8b", "fd377a585a00", "28b52ffd", "303730373031"],
    what: "an initial archive",
  },
  { of: (name, all) => all.has(`${name}.md5`), position: 0, bytes: ["68737173"], what: "a root file system" },
];

/** Refuses files that are not what their names say: a guest may call anything an image. */
export async function checkImages(target: string, imageType: ImageType): Promise<void> {
  const names = new Set(await readdir(target));
  // Beside a disk or a medium, a checksum belongs to that.
  const rules = imageType === "net" ? marks : marks.slice(0, 2);
  for (const { of, position, bytes, what } of rules) {
    for (const name of [...names].filter((each) => of(each, names))) {
      const found = await bytesAt(join(target, name), position, 8);
      if (bytes.some((good) => found.startsWith(good))) continue;
      throw new BuildFailure({
        kind: "failed",
        reason: `The build of ${imageType} left a file ${name} that is not ${what}.`,
      });
    }
  }
}

async function bytesAt(path: string, position: number, length: number): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString("hex", 0, bytesRead);
}
