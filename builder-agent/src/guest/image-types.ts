import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ImageType } from "../contract.ts";
import { BuildFailure } from "../build/build-failure.ts";

/** What stands where, by the ending of a file that KIWI has made. */
const marks = [
  { ending: ".raw", position: 510, bytes: "55aa", what: "a disk" },
  { ending: ".iso", position: 0x8001, bytes: "4344303031", what: "a medium" },
] as const;

/** Refuses files that are not what their names say: a guest may call anything an image. */
export async function checkImages(target: string, imageType: ImageType): Promise<void> {
  const names = await readdir(target);
  for (const { ending, position, bytes, what } of marks) {
    for (const name of names.filter((each) => each.endsWith(ending))) {
      if ((await bytesAt(join(target, name), position, bytes.length / 2)) === bytes) continue;
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
