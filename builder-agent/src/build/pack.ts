import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { partBytes } from "../contract.ts";
import { endOf, outputOf, run } from "../process.ts";
import { openDigests } from "../upload/checksum.ts";
import type { UploadFile } from "../upload/upload.ts";
import type { KiwiResult } from "./result.ts";

/** The file to download, and where the disk or medium itself is now. */
export interface PackedImage extends UploadFile {
  compressed: boolean;
  image: string;
}

/**
 * A disk becomes `NAME.tar.gz` with `NAME/NAME.raw` inside, its holes kept as holes; a medium stays as it is. The digests
 * are made in the same pass over the result.
 */
export async function packImage(
  built: KiwiResult,
  name: string,
  at: { workDir: string; signal: AbortSignal },
): Promise<PackedImage> {
  return built.format === "raw" ? await packDisk(built, name, at) : await nameMedium(built, name, at.signal);
}

async function packDisk(
  built: KiwiResult,
  name: string,
  { workDir, signal }: { workDir: string; signal: AbortSignal },
) {
  const pack = join(workDir, "pack");
  const image = join(pack, name, `${name}.raw`);
  await mkdir(join(pack, name), { recursive: true });
  await rename(built.image, image);

  const path = join(workDir, `${name}.tar.gz`);
  const digests = openDigests(partBytes);
  const said: string[] = [];
  const exit = await run("tar", tarArguments(pack, name, await compressor(signal)), {
    signal,
    onLine: (line) => void said.push(line),
    onOutput: (output) => pipeline(output, digests.through, createWriteStream(path)),
  });
  if (!("code" in exit) || exit.code !== 0) throw new Error(`tar: ${said.join(" ") || endOf(exit)}`);
  return { path, fileName: `${name}.tar.gz`, digests: digests.result(), compressed: true, image };
}

async function nameMedium(built: KiwiResult, name: string, signal: AbortSignal): Promise<PackedImage> {
  const digests = openDigests(partBytes);
  await pipeline(createReadStream(built.image), digests.through, drain, { signal });
  const path = built.image;
  return { path, fileName: `${name}.iso`, digests: digests.result(), compressed: false, image: path };
}

const tarArguments = (dir: string, name: string, compress: string) => [
  "--create",
  "--file=-",
  "--sparse",
  "--format=gnu",
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  `--use-compress-program=${compress}`,
  `--directory=${dir}`,
  name,
];

/** The fastest level: an image is downloaded rarely and built often. */
async function compressor(signal: AbortSignal): Promise<string> {
  return await outputOf("pigz", ["--version"], signal).then(
    () => "pigz -1",
    () => "gzip -1",
  );
}

async function drain(source: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of source);
}
