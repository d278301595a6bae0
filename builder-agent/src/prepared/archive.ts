import { copyFile, lstat, mkdir, rm } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { outputOf } from "../process.ts";

/** How a root is written: with owners by number, hard links, capabilities and access lists; nothing that is mounted there. */
export const packArguments = (root: string, file: string): string[] =>
  writeArguments(root, file, [`--use-compress-program=zstd ${compression.join(" ")}`]);

const compression = ["-1", "-T0", "--quiet"];

const writeArguments = (root: string, file: string, more: readonly string[] = []): string[] => [
  "tar",
  "--create",
  `--file=${file}`,
  ...more,
  "--format=posix",
  ...attributes,
  "--numeric-owner",
  "--one-file-system",
  `--directory=${root}`,
  ".",
];

/** `root` is there, and empty. */
export const unpackArguments = (file: string, root: string): string[] => [
  "tar",
  "--extract",
  `--file=${file}`,
  "--use-compress-program=zstd --quiet",
  ...attributes,
  "--xattrs-include=*",
  "--numeric-owner",
  "--same-owner",
  "--same-permissions",
  "--delay-directory-restore",
  `--directory=${root}`,
];

const attributes = ["--xattrs", "--acls"];

/**
 * Writes a root into an archive. The root must not change before `onRead`. Compression comes after that, so the build does not
 * wait for it.
 */
export async function packRoot(root: string, file: string, packing: { signal: AbortSignal; onRead: () => void }) {
  const { signal, onRead } = packing;
  const copy = `${file}.copy`;
  try {
    await runTar(writeArguments(root, copy), signal);
  } finally {
    onRead();
  }
  await compress(copy, file, signal);
}

/** Replaces an archive by a compressed one. */
export async function compress(copy: string, file: string, signal: AbortSignal): Promise<void> {
  await outputOf("zstd", [...compression, "--rm", "-o", file, copy], signal);
}

/** Makes the directory with what an archive holds. */
export async function unpackArchive(file: string, root: string, signal: AbortSignal): Promise<void> {
  await mkdir(root);
  await runTar(unpackArguments(file, root), signal);
}

/** Makes the root that an archive holds, described by another type's config.xml: what `system create` goes by. */
export async function unpackRoot(
  file: string,
  { root, description }: { root: string; description: string },
  signal: AbortSignal,
): Promise<void> {
  await unpackArchive(file, root, signal);
  // What a build's scripts have left there is not followed: it may be a link to a directory of this host.
  const imageDir = join(root, "image");
  if (!(await lstat(imageDir)).isDirectory()) throw new Error("the prepared root has no folder for its description");
  await rm(join(imageDir, "config.xml"), { force: true, recursive: true });
  await copyFile(join(description, "config.xml"), join(imageDir, "config.xml"), constants.COPYFILE_EXCL);
}

async function runTar([command = "", ...args]: string[], signal: AbortSignal): Promise<void> {
  await outputOf(command, args, signal);
}
