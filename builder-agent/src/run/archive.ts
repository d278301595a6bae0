import { endOf, hasSucceeded, run, succeeds, type Exit } from "../process.ts";
import type { PartedFile } from "../upload/parted-file.ts";
import type { UploadFile } from "../upload/upload.ts";

export interface Folder {
  dir: string;
  /** The folders and files of `dir` to pack. */
  names: readonly string[];
  /** Whether to make an uncompressed tar archive, in the order of `names` and in a format that other programs know. */
  isPlain?: boolean | undefined;
  /** The time of all files, in seconds since 1970. If undefined, each file keeps its own time. */
  sourceDate?: number | undefined;
}

/**
 * Packs folders and files into a `.tar.gz` or a `.tar`. In a `.tar.gz`, files stay sparse. The same files and
 * `sourceDate` give the same bytes.
 */
export async function packFolder(folder: Folder, file: PartedFile, signal: AbortSignal): Promise<UploadFile> {
  const { exit, said } = await writeOutput("tar", tarArguments(folder, await compressor(signal)), { file, signal });
  if (!isWhole(exit, said)) throw new Error(`tar: ${said.join(" ") || endOf(exit)}`);
  return await file.end();
}

/** Compresses one file, such as a tar archive. */
export async function compressFile(path: string, file: PartedFile, signal: AbortSignal): Promise<UploadFile> {
  const [program = "", ...options] = (await compressor(signal)).split(" ");
  const { exit, said } = await writeOutput(program, [...options, "--stdout", path], { file, signal });
  if (!hasSucceeded(exit)) throw new Error(`${program}: ${said.join(" ") || endOf(exit)}`);
  return await file.end();
}

/** Writes the output of a program to a file. Returns the program's messages. */
async function writeOutput(
  program: string,
  args: string[],
  { file, signal }: { file: PartedFile; signal: AbortSignal },
): Promise<{ exit: Exit; said: string[] }> {
  const said: string[] = [];
  const exit = await run(program, args, {
    signal,
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" },
    onLine: (line) => void said.push(line),
    onOutput: async (output) => {
      for await (const bytes of output) await file.write(bytes);
    },
  });
  return { exit, said };
}

/**
 * tar warns if a file's ctime has changed after reading. That is harmless here: other formats and testdrives add and
 * remove links to the disk, and only read it. If a file became shorter or cannot be read, tar's message is a different
 * one.
 */
const isWhole = (exit: Exit, said: readonly string[]): boolean =>
  "code" in exit &&
  (exit.code === 0 || (exit.code === 1 && said.every((line) => line.endsWith(": file changed as we read it"))));

/** ustar, as an OVA must be, with pax records only for files over 8 GiB, which ustar cannot describe. */
const plainFormat = ["--format=posix", "--pax-option=delete=atime,delete=ctime,delete=mtime"];

/** With its usual 10 KiB at a time, tar needs almost twice as long. The last 64 KiB are filled with zeros. */
const largeRecords = ["--blocking-factor=128"];

const tarArguments = ({ dir, names, sourceDate, isPlain }: Folder, compress: string) => [
  "--create",
  "--file=-",
  ...(isPlain ? plainFormat : ["--sparse", "--format=gnu", ...largeRecords, `--use-compress-program=${compress}`]),
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  "--sort=name",
  ...(sourceDate === undefined ? [] : [`--mtime=@${sourceDate}`]),
  `--directory=${dir}`,
  ...names,
];

/**
 * The fastest program on this host, at its fastest useful level: images are built more often than downloaded. igzip
 * needs a quarter of pigz's processor time, for an archive that is 2 % larger.
 */
async function compressor(signal: AbortSignal): Promise<string> {
  for (const [program, options] of compressors) {
    if (await succeeds(program, ["--version"], signal)) return `${program} ${options}`;
  }
  return "gzip -1 --no-name";
}

const compressors = [
  ["igzip", "-2 --no-name"],
  ["pigz", "-1 --no-name --no-time"],
] as const;
