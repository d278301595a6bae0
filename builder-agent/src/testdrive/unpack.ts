import { chown, mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { diskPath, type Container } from "../contract.ts";
import { convertToRaw, HostileArchive, maxBytesIn } from "./container.ts";
import { killGroup } from "../process.ts";
import { asNobody, nobody } from "./rights.ts";

interface Expected {
  /** Bytes of the raw disk. */
  rawSize: number;
  /** The container of the disk in the archive. */
  container: Container;
  /** The name of a disk that is not in a folder of the archive. */
  alone?: string | undefined;
  /** Whether the archive is not compressed. */
  isPlain?: boolean | undefined;
  signal: AbortSignal;
}

/**
 * Unpacks the one disk of a `.tar.gz` or `.tar` to `into`, as a sparse raw disk. An untrusted user's build decides what
 * is in the archive. So tar runs as the user `nobody`, in an empty directory, and only for members with one file name
 * extension. It writes all of them to the same file name, and may neither overwrite that file nor make it larger than
 * announced. The result is checked before it is used. (Writing the member to standard output would be as safe, but tar
 * then writes holes in pieces of 512 bytes: 13 s for 2 GiB.)
 */
export async function unpackDisk(archive: string, into: string, expected: Expected): Promise<void> {
  const { rawSize, container, signal } = expected;
  const dir = `${into}.unpacking`;
  await mkdir(dir, { mode: 0o700 });
  try {
    if (process.getuid?.() === 0) await chown(dir, nobody, nobody);
    await using source = await open(archive);
    checkListed(await runTar(source, dir, expected), expected);
    const { conversion } = container;
    const disk = conversion ? await convertToRaw(dir, diskFile, { conversion, rawSize, signal }) : diskFile;
    await takeOver(join(dir, disk), into, rawSize);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** `tar -vv --numeric-owner`: type and mode, owner, size, date, time, name. */
const memberLine = /^-[rwxsStT-]{9}\S? +\d+\/\d+ +\d+ +\S+ +\S+ (.+)$/;
/** The name as packed by run/pack.ts: `NAME/NAME.raw`. */
const memberName = /^([A-Za-z0-9][A-Za-z0-9._+-]*)\/[A-Za-z0-9][A-Za-z0-9._+-]*$/;
const diskFile = "disk";

const tarArguments = [
  ["--extract", "--file=-", "-vv", "--numeric-owner", "--quoting-style=escape"],
  ["--no-same-owner", "--no-same-permissions", "--keep-old-files", `--transform=s,.*,${diskFile},`],
  ["--wildcards", "--wildcards-match-slash"],
].flat();

interface Listed {
  members: string[];
  complaints: string[];
  /** Null if it was killed. */
  code: number | null;
}

async function runTar(source: FileHandle, dir: string, expected: Expected): Promise<Listed> {
  const { container, rawSize, alone = `*/*.${container.suffix}`, isPlain = false, signal } = expected;
  const unzip = isPlain ? [] : ["--gzip"];
  signal.throwIfAborted();
  const limits = [`--fsize=${maxBytesIn(container, rawSize)}`, "--core=0"];
  const child = spawn(...asNobody("prlimit", [...limits, "--", "tar", ...tarArguments, ...unzip, alone]), {
    env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
    cwd: dir, // entered while still root: the user nobody cannot enter its parents
    detached: true, // one group with the decompressor, so that both are killed
    stdio: [source.fd, "pipe", "pipe"],
  });
  const kill = () => killRunning(child);
  signal.addEventListener("abort", kill);
  try {
    const ended = new Promise<number | null>((resolve, reject) => child.on("close", resolve).on("error", reject));
    const [members, complaints, code] = await Promise.all([firstLines(child.stdout), firstLines(child.stderr), ended]);
    signal.throwIfAborted();
    return { members, complaints, code };
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
  }
}

function checkListed({ members, complaints, code }: Listed, { container, alone }: Expected): void {
  const [line, another] = members;
  if (line === undefined) throw new HostileArchive(`there is no disk in it${saying(complaints)}`);
  const [, member = ""] = memberLine.exec(line) ?? [];
  const [whole, folder = ""] = alone === member ? [member] : (memberName.exec(member) ?? []);
  if (whole === undefined) throw new HostileArchive(`"${line}" is not a disk of a build`);
  if (whole !== diskPath(folder, container, alone))
    throw new HostileArchive(`"${whole}" is not a valid name of a disk`);
  if (another !== undefined) throw new HostileArchive(`it contains more than one disk: "${another}"`);
  if (code !== 0) throw new HostileArchive(`tar ended with ${code ?? "a signal"}${saying(complaints)}`);
}

const saying = (complaints: string[]) => (complaints.length === 0 ? "" : ` (${complaints.join(" ")})`);

async function takeOver(disk: string, into: string, rawSize: number): Promise<void> {
  await using file = await open(disk, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = await file.stat();
  if (!found.isFile() || found.nlink !== 1) throw new HostileArchive("its disk is not a plain file");
  if (found.size !== rawSize)
    throw new HostileArchive(`the disk has ${found.size} bytes instead of the announced ${rawSize}`);
  if (process.getuid?.() === 0) await file.chown(0, 0);
  await file.chmod(0o600);
  await rename(disk, into);
}

/** The first lines, which are enough. Reads the rest too, because a full pipe would stop the program. */
async function firstLines(output: Readable | null): Promise<string[]> {
  const lines: string[] = [];
  if (!output) return lines;
  for await (const line of createInterface({ input: output })) {
    if (lines.length < 3) lines.push(line.slice(0, 300));
  }
  return lines;
}

/** Kills the process group, unless the program has ended. */
function killRunning({ pid, exitCode, signalCode }: ChildProcess): void {
  if (exitCode === null && signalCode === null) killGroup(pid);
}
