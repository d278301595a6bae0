import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { debianMirrors } from "../../scripts/launch/debian-mirrors.ts";

/** An upstream archive of Debian: its path below `pool`, and its checksum. */
export interface SourceArchive {
  path: string;
  sha256: string;
}

const cache = join(homedir(), ".cache/kiln/debian-sources");

/** Unpacks an archive from the mirror of this machine's apt into a folder. Downloads it only once. */
export async function unpackSource(archive: SourceArchive, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", [
    "--extract",
    "--file",
    await downloaded(archive),
    "--directory",
    folder,
    "--strip-components=1",
  ]);
}

async function downloaded({ path, sha256 }: SourceArchive): Promise<string> {
  mkdirSync(cache, { recursive: true });
  const file = join(cache, path.split("/").at(-1) ?? "");
  if (existsSync(file) && digestOf(readFileSync(file)) === sha256) return file;
  const { archive: mirror } = await debianMirrors(AbortSignal.timeout(30_000));
  const url = `${mirror}/pool/${path.replaceAll("+", "%2b")}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(120_000) }).catch((error: unknown) => {
    throw new Error(`${url} cannot be downloaded, and this test needs it once: ${String(error)}`);
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (digestOf(bytes) !== sha256) throw new Error(`${url} answered ${answer.status}, and not with the expected file`);
  const partial = mkdtempSync(join(cache, "partial."));
  writeFileSync(join(partial, "file"), bytes);
  renameSync(join(partial, "file"), file); // so that the next test does not use a partial download
  rmSync(partial, { recursive: true });
  return file;
}

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
