import type { BuildFailed, FrozenInput, Phase } from "../contract.ts";
import { OutsideRefused } from "../outside.ts";
import { enclosed, run } from "../process.ts";
import { followFile } from "./follow-file.ts";
import { failureOf, noNotes, note } from "./failure.ts";
import { createArguments, kiwiEnvironment, makeKiwiPlace, prepareArguments, type KiwiPlace } from "./kiwi.ts";
import { readResult, type KiwiResult } from "./result.ts";
import { ourAliases, writeDescription, type Reach } from "./source.ts";

/** A build that cannot come to an image, with the sentence for its owner. */
export class BuildFailure extends Error {
  readonly kind: BuildFailed["kind"];
  constructor({ kind, reason }: BuildFailed, options?: ErrorOptions) {
    super(reason, options);
    this.name = "BuildFailure";
    this.kind = kind;
  }
}

export interface ImageBuild {
  /** KIWI NG's program. */
  kiwi: string;
  workDir: string;
  reach: Reach;
  signal: AbortSignal;
  onLine: (line: string) => void;
  onPhase: (phase: Phase) => void;
}

/** From the frozen input to KIWI's image on this disk: needs no Worker but for the repositories that it serves. */
export async function buildImage(input: FrozenInput, build: ImageBuild): Promise<KiwiResult> {
  const place = await makeKiwiPlace(build.workDir);
  await writeDescription(input, place.description, build.reach).catch((error: unknown) => {
    if (!(error instanceof OutsideRefused)) throw error;
    throw new BuildFailure({ kind: "failed", reason: `A repository cannot be used: ${error.message}` });
  });
  const kiwi: KiwiRun = { input, place, build };
  build.onPhase("Preparing the build");
  await runKiwi(kiwi, prepareArguments(place, input.imageType), place.logs.prepare);
  build.onPhase("Creating the image");
  await runKiwi(kiwi, createArguments(place, input.imageType), place.logs.create);
  return await readResult(place.target, input.imageType);
}

interface KiwiRun {
  input: FrozenInput;
  place: KiwiPlace;
  build: ImageBuild;
}

async function runKiwi({ input, place, build }: KiwiRun, args: string[], logFile: string): Promise<void> {
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
  throw new BuildFailure(failureOf(notes, { exit, lastWords, ourAliases: ourAliases(input), root: place.root }));
}
