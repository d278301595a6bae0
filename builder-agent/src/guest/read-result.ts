import { chmod, chown, mkdir, readFile, rename, lstat } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { maxBytes as maxNameBytes, namesOf } from "../run/root-owners.ts";
import type { Found, RootTree } from "../run/root-walk.ts";
import { orderOf } from "../contract.ts";
import { endOf, hasSucceeded, run } from "../process.ts";
import { HostileTar } from "./tar.ts";

const reader = fileURLToPath(new URL("unpack-result.ts", import.meta.url));

export interface ResultReading {
  /** The guest's result disk. */
  disk: string;
  /** A directory to be created. */
  dir: string;
  /** The directory for KIWI's files, which have their own names there. */
  target: string;
  /** The path for the archive of the prepared root, if there is one. The agent does not read it. */
  prepared?: string;
  user: number;
  /** The limit for all files together, including holes. */
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Reads KIWI's files and the tree of the image from a result disk, which is untrusted. Only names that look like KIWI's
 * files become paths on this host.
 */
export async function readGuestResult(reading: ResultReading): Promise<RootTree> {
  const { dir, target, prepared, user } = reading;
  await mkdir(dir, { mode: 0o700 });
  if (process.getuid?.() === 0) await chown(dir, user, user);
  await unpack(reading);
  if (process.getuid?.() === 0) await chown(dir, 0, 0);
  const { files, archive, tree } = sorted(await readList(join(dir, "list")));
  for (const { name, content } of files) await takeOver(join(dir, `${content}`), join(target, name));
  if (archive !== undefined && prepared !== undefined) await takeOver(join(dir, `${archive}`), prepared);
  return treeOf(tree, dir);
}

/** The reader is a separate process, which drops root's rights before it reads the first byte. */
async function unpack({ disk, dir, user, maxBytes, signal }: ResultReading): Promise<void> {
  const complaints: string[] = [];
  const limits = ["--core=0", `--fsize=${maxBytes}`, "--nofile=256"];
  const program = [process.execPath, "--max-old-space-size=1024", reader, disk, `${user}`, `${maxBytes}`];
  const exit = await run("setpriv", ["--no-new-privs", "--", "prlimit", ...limits, "--", ...program], {
    cwd: dir,
    env: {},
    signal,
    onLine: (line) => void (complaints.length < 50 && complaints.push(line)),
  });
  if (hasSucceeded(exit)) return;
  const hostile = complaints.map((line) => /^HostileTar: (.*)$/.exec(line)?.[1]).find((why) => why !== undefined);
  if (hostile !== undefined) throw new HostileTar(hostile.replace(HostileTar.head, ""));
  throw new Error(`the guest's result could not be read: ${complaints.at(0) ?? endOf(exit)}`);
}

const Entry = z.object({
  name: z.string().max(8192),
  type: z.enum(["f", "d", "l", "c", "b", "p"]),
  mode: z.int().min(0).max(0o7777),
  uid: z.int().nonnegative(),
  gid: z.int().nonnegative(),
  content: z.int().nonnegative().optional(),
  size: z.int().nonnegative().optional(),
  target: z.string().max(8192).optional(),
});
type Entry = z.infer<typeof Entry>;

async function readList(file: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  // Not node:readline, which also splits at U+2028, a character that JSON does not escape in names.
  const lines = createReadStream(file).setEncoding("utf8");
  let rest = "";
  for await (const text of lines) {
    const whole = `${rest}${text}`.split("\n");
    rest = whole.pop() ?? "";
    for (const line of whole) entries.push(Entry.parse(JSON.parse(line)));
  }
  return entries;
}

const maxFiles = 100;
/** KIWI names its files after the image, whose name the Worker has checked. */
const fileName = /^target\/([A-Za-z0-9][A-Za-z0-9._+-]{0,200})$/;

interface TargetFile {
  name: string;
  content: number;
}

/** The archive of the prepared root on the disk. */
const archiveName = "kept/prepared.tar.zst";

function sorted(entries: Entry[]): { files: TargetFile[]; archive: number | undefined; tree: Entry[] } {
  const files = entries.flatMap(({ name, type, content }) => {
    const found = fileName.exec(name)?.[1];
    return found !== undefined && type === "f" && content !== undefined ? [{ name: found, content }] : [];
  });
  if (files.length > maxFiles) throw new HostileTar("it has more files than an image");
  const archive = entries.find(({ name, type }) => name === archiveName && type === "f")?.content;
  const numbers = [...files.map(({ content }) => content), ...(archive === undefined ? [] : [archive])];
  const taken = new Set(numbers);
  if (taken.size !== numbers.length) throw new HostileTar("one file has two names");
  const tree = entries.filter(({ name }) => name === "root" || name.startsWith("root/"));
  if (tree.some(({ content }) => content !== undefined && taken.has(content)))
    throw new HostileTar("a file is both the image and a part of it");
  return { files, archive, tree };
}

async function takeOver(from: string, to: string): Promise<void> {
  if (!(await lstat(from)).isFile()) throw new Error(`${from} is not a file`);
  if (process.getuid?.() === 0) await chown(from, 0, 0);
  await chmod(from, 0o644);
  await rename(from, to);
}

/** The tree of the image. Checks that names are in order and unique, and that parents are directories. */
function treeOf(entries: Entry[], dir: string): RootTree {
  const found = entries.map((entry) => foundOf(entry, dir));
  const directories = new Set<string>();
  let before = "";
  for (const { path, type } of found) {
    const order = orderOf(path);
    if (order === before) throw new HostileTar("a name appears twice");
    if (order < before) throw new Error("the list of the guest's result is not in order");
    before = order;
    const parent = path.slice(0, path.lastIndexOf("/")) || "/";
    if (path !== "/" && !directories.has(parent)) throw new HostileTar("a file has no directory");
    if (type === "d") directories.add(path);
  }
  const textOf = async (path: string) => {
    const file = found.find((each) => each.path === path && each.type === "f" && each.size <= maxNameBytes);
    return file && (await readFile(file.hostPath, "utf8"));
  };
  return {
    async *entries() {
      yield* found;
    },
    owners: async () => ({
      users: namesOf(await textOf("/etc/passwd")),
      groups: namesOf(await textOf("/etc/group")),
    }),
  };
}

function foundOf({ name, type, mode, uid, gid, content, size = 0, target = "" }: Entry, dir: string): Found {
  const path = name.slice("root".length) || "/";
  return { path, hostPath: content === undefined ? "" : join(dir, `${content}`), type, mode, uid, gid, size, target };
}
