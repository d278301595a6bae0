import type { FrozenInput, Phase } from "../contract.ts";
import { endOf, enclosed, run } from "../process.ts";
import { BuildFailure } from "./build-failure.ts";
import { followFile } from "./follow-file.ts";
import { failureOf, noNotes, note } from "./failure.ts";
import { createArguments, kiwiEnvironment, makeKiwiPlace, prepareArguments, type KiwiPlace } from "./kiwi.ts";
import { fetchPackages, type Reach } from "./package-files.ts";
import { readResult, type KiwiResult } from "./result.ts";
import { writeDescription } from "./source.ts";

export interface ImageBuild {
  /** KIWI NG's program. */
  kiwi: string;
  workDir: string;
  reach: Reach;
  signal: AbortSignal;
  onLine: (line: string) => void;
  onPhase: (phase: Phase) => void;
  /** Part of the phase that is done. */
  onProgress: (fraction: number) => void;
}

/** From the frozen input to KIWI's image on this disk: needs no Worker but for the repositories that it serves. */
export async function buildImage(input: FrozenInput, build: ImageBuild): Promise<KiwiResult> {
  const place = await makeKiwiPlace(build.workDir);
  await writeDescription(input, place.description, place.packages);
  build.onPhase("Preparing the build");
  await fetchPackages({ ...build, input, dir: place.packages });
  await indexPackages(place, build);
  const kiwi: KiwiRun = { place, build };
  await runKiwi(kiwi, prepareArguments(place, input.imageType), place.logs.prepare);
  build.onPhase("Creating the image");
  await runKiwi(kiwi, createArguments(place, input.imageType), place.logs.create);
  return await readResult(place.target, input.imageType);
}

/** Makes a repository of the packages; what lies in it was compared with its checksum before. */
async function indexPackages(place: KiwiPlace, { signal, workDir }: ImageBuild): Promise<void> {
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

interface KiwiRun {
  place: KiwiPlace;
  build: ImageBuild;
}

async function runKiwi({ place, build }: KiwiRun, args: string[], logFile: string): Promise<void> {
  let notes = noNotes;
  const log = followFile(logFile, (line) => {
    notes = note(notes, line);
    build.onLine(line);
  });
  let lastWords = "";
  const [command, enclosedArguments] = enclosed(build.kiwi, args);
  const options = { env: kiwiEnvironment(place), cwd: build.workDir, signal: build.signal };
  const exit = await run(command, enclosedArguments, {
    ...options,
    onOutput: async (output) => void output.resume(),
    onLine: (line) => (lastWords = line.trim() || lastWords),
  }).finally(() => log.end());
  if ("code" in exit && exit.code === 0) return;
  throw new BuildFailure(failureOf(notes, { exit, lastWords, root: place.root }));
}
