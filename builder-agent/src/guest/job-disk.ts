import { chmod, copyFile, mkdir, open, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { asMachine, createArguments, kiwiPlaceAt, prepareArguments, type KiwiPlace } from "../build/kiwi.ts";
import type { KiwiJob } from "../build/kiwi-runner.ts";
import { outputOf } from "../process.ts";
import { guestScript, shimsDir } from "./scripts.ts";

/** Where the parts of a job lie inside the guest (guest/kiwi.sh): what it was given is read-only. */
export const insideGuest: KiwiPlace = {
  ...kiwiPlaceAt("/build"),
  description: "/job/description",
  keys: "/job/keys",
  config: "/job/kiwi.yml",
  logs: { prepare: "/run/log", create: "/run/log" },
};

const environment = [
  `HOME=${insideGuest.home}`,
  "PATH=/job/shims:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  "LANG=C.UTF-8",
];

/** The commands that guest/kiwi.sh runs, one after the other. */
export function jobCommands({ input, keys }: Pick<KiwiJob, "input" | "keys">): Record<JobStep, string[]> {
  const { imageType, appliance } = input;
  const keysInside = keys.map((path) => join(insideGuest.keys, basename(path)));
  const kiwi = (args: string[]) => ["env", "-i", ...environment, ...asMachine(appliance.arch, "kiwi-ng", args).flat()];
  return {
    index: ["createrepo_c", "--quiet", "--no-database", insideGuest.packages],
    prepare: kiwi(prepareArguments(insideGuest, imageType, keysInside)),
    create: kiwi(createArguments(insideGuest, imageType)),
  };
}

export type JobStep = "index" | "prepare" | "create";

/** Packs all that the guest needs into one read-only disk; the packages are gone from the work directory then. */
export async function makeJobDisk(job: KiwiJob): Promise<string> {
  const { place, workDir, signal } = job;
  const dir = join(workDir, "job");
  await mkdir(dir);
  await copyFile(guestScript("kiwi.sh"), join(dir, "run"));
  await chmod(join(dir, "run"), 0o755);
  const commands = Object.entries(jobCommands(job));
  for (const [step, words] of commands) await writeFile(join(dir, step), words.map((word) => `${word}\0`).join(""));
  const parts = [place.description, place.packages, place.keys, place.home, place.config, shimsDir];
  const own = ["run", ...commands.map(([step]) => step)].map((name) => join(dir, name));
  const disk = join(workDir, "job.squashfs");
  await packDisk([...parts, ...own], disk, signal);
  await rm(place.packages, { recursive: true });
  return disk;
}

/** Files and directories, each at the root of a squashfs, as they are: packages are compressed already. */
export async function packDisk(sources: string[], disk: string, signal: AbortSignal): Promise<void> {
  const asTheyAre = ["-noI", "-noD", "-noF", "-noX", "-all-root", "-no-xattrs", "-no-progress", "-quiet"];
  await outputOf("mksquashfs", [...sources, disk, ...asTheyAre], signal);
}

/** A disk of holes. */
export async function makeBlankDisk(path: string, bytes: number): Promise<string> {
  await using file = await open(path, "wx", 0o600);
  await file.truncate(bytes);
  return path;
}
