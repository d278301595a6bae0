import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A disk image from a build's archive, read without Kiln and without mounting. */
export interface Disk {
  /** The raw disk itself. */
  file: string;
  read: (path: string) => string;
  /** Mode in octal, uid, gid: `0640 1000:100`. */
  stat: (path: string) => string;
  /** The target of a symbolic link. */
  link: (path: string) => string;
  /** Copies a folder out; returns its path. */
  extract: (path: string) => string;
}

/** Downloads the archive and unpacks it below `dir`. */
export async function downloadDisk(downloadUrl: string, dir: string): Promise<Disk> {
  const archive = join(dir, "image.tar.gz");
  writeFileSync(archive, new Uint8Array(await (await fetch(downloadUrl)).arrayBuffer()));
  execFileSync("tar", ["-xzf", archive, "-C", dir, "--strip-components=1"]);
  const raw = join(dir, readdirSync(dir).find((name) => name.endsWith(".raw")) ?? "");
  const table = JSON.parse(execFileSync("sfdisk", ["--json", raw], { encoding: "utf8" })) as {
    partitiontable: { partitions: { start: number }[] };
  };
  const offset = (table.partitiontable.partitions[0]?.start ?? 0) * 512;
  const ask = (request: string) =>
    execFileSync("debugfs", ["-R", request, `${raw}?offset=${offset}`], { encoding: "utf8", stdio: "pipe" });
  const inode = (path: string) => ask(`stat "${path}"`);
  return {
    file: raw,
    read: (path) => ask(`cat "${path}"`),
    stat: (path) => {
      const [, mode] = /Mode: +(\d+)/.exec(inode(path)) ?? [];
      const [, uid, gid] = /User: +(\d+) +Group: +(\d+)/.exec(inode(path)) ?? [];
      return `${mode} ${uid}:${gid}`;
    },
    link: (path) => /Fast link dest: "(.*)"/.exec(inode(path))?.[1] ?? "",
    extract: (path) => {
      const out = mkdtempSync(join(dir, "extracted-"));
      ask(`rdump "${path}" "${out}"`);
      return join(out, path.split("/").at(-1) ?? "");
    },
  };
}
