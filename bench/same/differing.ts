/** Finds the differences of two files that should be the same. */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { FileEntry } from "../../builder-agent/src/contract.ts";

const pieceBytes = 2 ** 20;

/** The number of bytes at which two files differ. Bytes that only one of them has count, too. */
export function differingBytes(one: string, other: string): number {
  const sizes = [statSync(one).size, statSync(other).size];
  const files = [openSync(one, "r"), openSync(other, "r")];
  const [a, b] = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)];
  let count = Math.max(...sizes) - Math.min(...sizes);
  for (let at = 0; at < Math.min(...sizes); at += pieceBytes) {
    const length = Math.min(pieceBytes, Math.min(...sizes) - at);
    readSync(files[0] ?? 0, a, 0, length, at);
    readSync(files[1] ?? 0, b, 0, length, at);
    if (a.compare(b, 0, length, 0, length) === 0) continue;
    for (let n = 0; n < length; n++) if (a[n] !== b[n]) count += 1;
  }
  for (const file of files) closeSync(file);
  return count;
}

/** The files that differ in two archives, with the number of bytes. Empty if they are not archives. */
export function differingMembers(one: string, other: string): string[] {
  const dirs = [one, other].map(unpacked);
  try {
    const [a, b] = dirs;
    if (a === undefined || b === undefined) return [];
    const names = [...new Set([...filesIn(a), ...filesIn(b)])].toSorted();
    return names.flatMap((name) => difference(name, join(a, name), join(b, name)));
  } finally {
    for (const dir of dirs) if (dir !== undefined) rmSync(dir, { recursive: true });
  }
}

function difference(name: string, one: string, other: string): string[] {
  try {
    const bytes = differingBytes(one, other);
    return bytes === 0 ? [] : [`${name} (${bytes} bytes)`];
  } catch {
    return [`${name} (only one of them has it)`];
  }
}

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1));

function unpacked(file: string): string | undefined {
  if (spawnSync("tar", ["-tf", file], { stdio: "ignore" }).status !== 0) return undefined;
  const dir = mkdtempSync(join(tmpdir(), "kiln-same-"));
  execFileSync("tar", ["--no-same-owner", "-C", dir, "-xf", file]);
  return dir;
}

/** The paths that differ in two roots, from the indexes of their file stores. */
export function differingFiles(one: string, other: string): string[] {
  const [a, b] = [entriesOf(one), entriesOf(other)];
  const paths = [...new Set([...a.keys(), ...b.keys()])];
  return paths.filter((path) => a.get(path) !== b.get(path));
}

/** An index is gzip members of lines, one entry each, followed by a table. Where a content is stored does not count. */
function entriesOf(index: string): Map<string, string> {
  const lines = gunzipSync(readFileSync(index)).toString().split("\n");
  const entries = lines.filter((line) => line.startsWith('{"path"')).map((line) => FileEntry.parse(JSON.parse(line)));
  return new Map(
    entries.map((entry) => [
      entry.path,
      JSON.stringify(entry.type === "f" ? { ...entry, offset: 0, length: 1 } : entry),
    ]),
  );
}
