import { packRoot, unpackRoot } from "../prepared/archive.ts";
import { endOf, enclosed, run } from "../process.ts";
import { BuildFailure } from "./build-failure.ts";
import { followFile } from "./follow-file.ts";
import { failureOf, noNotes, note } from "./failure.ts";
import { asMachine, createArguments, kiwiEnvironment, prepareArguments, shims } from "./kiwi.ts";
import type { KiwiJob, KiwiRunner } from "./kiwi-runner.ts";
import { PackedAhead } from "./packed-ahead.ts";
import { treeAt } from "./root-walk.ts";
import { steadyEnvironment } from "./steady.ts";

/** KIWI on this host, as root: scripts of the description and of packages can do anything here. */
export const bareKiwi = (kiwi: string): KiwiRunner => ({
  repository: (place) => place.packages,
  async run(job) {
    const { place, input, workDir } = job;
    if (job.share?.archive !== undefined) await restore(job, job.share.archive);
    else await prepare(job, kiwi);
    job.onPhase("Creating the image");
    const ahead = new PackedAhead(treeAt(place.root).entries(), workDir);
    try {
      await runKiwi(job, [kiwi, createArguments(place, input.imageType)], place.logs.create);
    } finally {
      await ahead.end();
    }
    return treeAt(place.root, ahead);
  },
});

async function prepare(job: KiwiJob, kiwi: string): Promise<void> {
  const { place, input, signal } = job;
  await indexPackages(job);
  await runKiwi(job, [kiwi, prepareArguments(place, input.imageType, job.keys)], place.logs.prepare);
  await job.share?.offer((file) => packRoot(place.root, file, signal));
}

async function restore({ place, share, signal }: KiwiJob, archive: string): Promise<void> {
  try {
    await unpackRoot(archive, place, signal);
  } catch (error) {
    await share?.distrust();
    throw error;
  }
}

/** Makes a repository of the packages; what lies in it was compared with its checksum before. */
async function indexPackages({ place, signal, workDir }: KiwiJob): Promise<void> {
  let lastWords = "";
  const [command, args] = enclosed("createrepo_c", ["--quiet", "--no-database", place.packages]);
  const exit = await run(command, args, {
    env: kiwiEnvironment(place),
    cwd: workDir,
    signal,
    onLine: (line) => (lastWords = line),
  });
  if ("code" in exit && exit.code === 0) return;
  throw new Error(`createrepo_c ended with ${endOf(exit)}: ${lastWords || "no reason given"}`);
}

async function runKiwi(job: KiwiJob, [kiwi, args]: [string, string[]], logFile: string): Promise<void> {
  const { place, input, workDir, signal } = job;
  let notes = noNotes;
  const log = followFile(logFile, (line) => {
    notes = note(notes, line);
    job.onLine(line);
  });
  let lastWords = "";
  const [command, enclosedArguments] = enclosed(...asMachine(input.appliance.arch, kiwi, args));
  const exit = await run(command, enclosedArguments, {
    env: { ...kiwiEnvironment(place), ...steadyEnvironment(input, shims) },
    cwd: workDir,
    signal,
    onOutput: async (output) => void output.resume(),
    onLine: (line) => (lastWords = line.trim() || lastWords),
  }).finally(() => log.end());
  if ("code" in exit && exit.code === 0) return;
  throw new BuildFailure(failureOf(notes, { exit, lastWords, root: place.root }));
}
