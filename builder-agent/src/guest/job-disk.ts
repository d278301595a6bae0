import { chmod, copyFile, link, mkdir, open, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  asMachine,
  createArguments,
  environmentFor,
  kiwiPathsAt,
  prepareArguments,
  shims,
  forDebian,
  type KiwiPaths,
} from "../run/kiwi.ts";
import type { KiwiJob } from "../run/kiwi-runner.ts";
import { preloadedInDebian } from "../run/preloaded.ts";
import { reproducibleEnvironment } from "../run/reproducible.ts";
import { packArguments, unpackArguments } from "../prepared/archive.ts";
import { outputOf } from "../process.ts";
import { guestScript } from "./kernel.ts";

/** Paths of a job inside the guest (guest/kiwi.sh). /job is read-only. */
export const insideGuest: KiwiPaths = {
  ...kiwiPathsAt("/build"),
  description: "/job/description",
  keys: "/job/keys",
  config: "/job/kiwi.yml",
  logs: { prepare: "/run/log", create: "/run/log" },
};

const shimsInside = "/job/shims";

const environment = [
  `HOME=${insideGuest.home}`,
  `PATH=${shimsInside}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  "LANG=C.UTF-8",
  ...Object.entries(forDebian).map(([name, value]) => `${name}=${value}`),
];

/** The archive of a prepared root that the guest gets, and the one that it creates. */
const archiveIn = "/job/prepared.tar.zst";
const archiveOut = "/build/kept/prepared.tar.zst";

/** The commands that guest/kiwi.sh runs, one after the other. */
export function jobCommands({ input, keys, share }: Pick<KiwiJob, "input" | "keys" | "share">): JobCommands {
  const { imageType, appliance } = input;
  const keysInside = keys.map((path) => join(insideGuest.keys, basename(path)));
  const own = { ...environmentFor(appliance.arch), ...reproducibleEnvironment(input, shimsInside) };
  const clean = ["env", "-i", ...environment, ...Object.entries(own).map(([name, value]) => `${name}=${value}`)];
  // A preloaded program waits for the end of its standard input. In the guest, that has ended already.
  const [program = "", ...loaded] = preloadedInDebian(shimsInside);
  const kiwi = (args: string[]) => [...clean, ...asMachine(appliance.arch, program, [...loaded, ...args]).flat()];
  const create = kiwi(createArguments(insideGuest, imageType));
  if (share?.archive !== undefined) return { restore: unpackArguments(archiveIn, insideGuest.root), create };
  return {
    index: input.packageType === "deb" ? ["true"] : ["createrepo_c", "--quiet", "--no-database", insideGuest.packages],
    prepare: kiwi(prepareArguments(insideGuest, imageType, keysInside)),
    ...(share && { keep: packArguments(insideGuest.root, archiveOut) }),
    create,
  };
}

type JobStep = "index" | "prepare" | "keep" | "restore" | "create";
export type JobCommands = Partial<Record<JobStep, string[]>> & { create: string[] };

/** Packs everything that the guest needs into one read-only disk. Deletes the packages in the work directory. */
export async function makeJobDisk(job: KiwiJob): Promise<string> {
  const { paths, workDir, signal, share, keys } = job;
  const dir = join(workDir, "job");
  await mkdir(dir);
  await copyFile(guestScript("kiwi.sh"), join(dir, "run"));
  await chmod(join(dir, "run"), 0o755);
  const commands = Object.entries(jobCommands(job));
  for (const [step, words] of commands) await writeFile(join(dir, step), words.map((word) => `${word}\0`).join(""));
  const parts = [paths.description, paths.packages, paths.home, paths.config, shims];
  // An image of Debian has its keys in its description.
  if (keys.length > 0) parts.push(paths.keys);
  if (share?.archive !== undefined) await link(share.archive, join(dir, basename(archiveIn)));
  const archives = share?.archive === undefined ? [] : [join(dir, basename(archiveIn))];
  const own = ["run", ...commands.map(([step]) => step)].map((name) => join(dir, name));
  const disk = join(workDir, "job.squashfs");
  await packDisk([...parts, ...own, ...archives], disk, signal);
  await rm(paths.packages, { recursive: true });
  return disk;
}

/** Packs files and directories into a squashfs, without compression, because packages are already compressed. */
export async function packDisk(sources: string[], disk: string, signal: AbortSignal): Promise<void> {
  const asTheyAre = ["-noI", "-noD", "-noF", "-noX", "-all-root", "-no-xattrs", "-no-progress", "-quiet"];
  await outputOf("mksquashfs", [...sources, disk, ...asTheyAre], signal);
}

/** Makes a sparse file. */
export async function makeBlankDisk(path: string, bytes: number): Promise<string> {
  await using file = await open(path, "wx", 0o600);
  await file.truncate(bytes);
  return path;
}
