import { copyFile, lstat, mkdir, rm } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { outputOf } from "../process.ts";

/** Packs a root with numeric owners, hard links, capabilities and access control lists, and without mounts. */
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

/** `root` must exist and be empty. */
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

/** Packs a root, which must not change before `onRead`. The compression follows, and the build does not wait for it. */
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

/** Compresses `copy` into `file` and deletes it. */
export async function compress(copy: string, file: string, signal: AbortSignal): Promise<void> {
  await outputOf("zstd", [...compression, "--rm", "-o", file, copy], signal);
}

/** Unpacks an archive into a new directory. */
export async function unpackArchive(file: string, root: string, signal: AbortSignal): Promise<void> {
  await mkdir(root);
  await runTar(unpackArguments(file, root), signal);
}

/** Unpacks a root for another image type: `system create` reads the type from config.xml, which is replaced. */
export async function unpackRoot(
  file: string,
  { root, description }: { root: string; description: string },
  signal: AbortSignal,
): Promise<void> {
  await unpackArchive(file, root, signal);
  // A build's scripts may have replaced it with a link to a directory of this host.
  const imageDir = join(root, "image");
  if (!(await lstat(imageDir)).isDirectory()) throw new Error("the prepared root has no folder for its description");
  await rm(join(imageDir, "config.xml"), { force: true, recursive: true });
  await copyFile(join(description, "config.xml"), join(imageDir, "config.xml"), constants.COPYFILE_EXCL);
}

async function runTar([command = "", ...args]: string[], signal: AbortSignal): Promise<void> {
  await outputOf(command, args, signal);
}
