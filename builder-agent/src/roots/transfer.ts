import { constants, copyFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { RootFault } from "./definition.ts";
import { openRootWork, storeRoot, type StoredRoot } from "./store.ts";
import { sha256OfFile } from "../file-hash.ts";

/** Copies a root into a file, and writes its digest next to it in sha256sum's format. */
export async function exportRoot({ file, sha256 }: StoredRoot, into: string): Promise<void> {
  const incoming = `${into}.incoming`;
  try {
    await copyFile(file, incoming, constants.COPYFILE_FICLONE);
    await rename(incoming, into);
  } finally {
    await rm(incoming, { force: true });
  }
  await writeFile(digestFile(into), `${sha256}  ${basename(into)}\n`);
}

/** Stores a root that another agent exported. `sha256` is its digest, by default the one in the file next to it. */
export async function importRoot(
  file: string,
  { stateDir, sha256 }: { stateDir: string; sha256: string | undefined },
): Promise<StoredRoot> {
  const wanted = sha256?.toLowerCase() ?? (await digestBeside(file));
  await using work = await openRootWork(stateDir);
  const copy = join(work.path, "root.squashfs");
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  const found = await sha256OfFile(copy);
  if (found !== wanted) throw new RootFault(`${file} has the SHA-256 ${found} instead of ${wanted}.`);
  return await storeRoot(stateDir, work, copy);
}

const digestFile = (file: string) => `${file}.sha256`;

async function digestBeside(file: string): Promise<string> {
  const text = await readFile(digestFile(file), "utf8").catch(() => "");
  const [digest] = /^[0-9a-f]{64}/.exec(text) ?? [];
  if (digest === undefined) throw new RootFault(`There is no ${digestFile(file)}: give the digest with --sha256.`);
  return digest;
}
