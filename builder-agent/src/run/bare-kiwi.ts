import { packRoot, unpackRoot } from "../prepared/archive.ts";
import { endOf, enclosed, hasSucceeded, run } from "../process.ts";
import { inRoot } from "../roots/enter.ts";
import { BuildFailure, failureOf, noNotes, note } from "./failure.ts";
import { followFile } from "./follow-file.ts";
import {
  asMachine,
  createArguments,
  environmentFor,
  kiwiEnvironment,
  type KiwiPaths,
  prepareArguments,
  shims,
} from "./kiwi.ts";
import type { KiwiJob, KiwiRunner } from "./kiwi-runner.ts";
import { preloaded, preloadedInDebian } from "./preloaded.ts";
import { treeAt } from "./root-walk.ts";
import { reproducibleEnvironment } from "./reproducible.ts";

/** KIWI and its tools when it runs without a guest. */
export interface BareTools {
  /** KIWI NG's program on this host. */
  kiwi: string;
  /** If given, all tools come from this root. */
  builderRoot?: { file: string } | undefined;
}

/** Runs KIWI as root on this host's kernel. Scripts of the description and of packages can do anything here. */
export const bareKiwi = (tools: BareTools): KiwiRunner => ({
  repository: () => sharedPaths.packages,
  async run(job) {
    const { paths, input, share, signal } = job;
    if (share?.archive === undefined) await prepare(job, tools);
    // Fails only if the build is stopped.
    const offeringBase = job.base?.offer().catch(() => {});
    let offering: Promise<void> | undefined;
    let ahead: { end(): Promise<void> } | undefined;
    const first = async () => {
      if (share?.archive !== undefined) await restore(job, share.archive);
      else {
        const read = Promise.withResolvers<void>();
        offering = share?.offer((file) => packRoot(paths.root, file, { signal, onRead: read.resolve }));
        await Promise.race([read.promise, offering]);
      }
      ahead = await job.storeAhead?.(treeAt(paths.root));
      job.onPhase("Creating the image");
    };
    try {
      await runKiwi(job, {
        tools,
        args: createArguments(seenByKiwi(paths), input.imageType),
        log: paths.logs.create,
        first,
      });
    } finally {
      await ahead?.end();
      await offering?.catch(() => {}); // fails only if the build is stopped
      await offeringBase;
    }
    return treeAt(paths.root);
  },
});

async function prepare(job: KiwiJob, tools: BareTools): Promise<void> {
  const { paths, input, keys, base } = job;
  const fetched = async () => {
    await job.fetch();
    await indexPackages(job, tools);
  };
  await runKiwi(job, {
    tools,
    // Without an existing root KIWI creates one.
    args: [...prepareArguments(seenByKiwi(paths), input.imageType, keys), ...(base ? ["--allow-existing-root"] : [])],
    log: paths.logs.prepare,
    first: async () => void (await Promise.all([fetched(), base?.unpack(paths.root)])),
    environment: copyEnvironment(job),
  });
}

/** Environment variables for shims/chroot. */
const copyEnvironment = ({ base, workDir }: KiwiJob): Record<string, string> =>
  base?.copy === undefined ? {} : { KILN_BASE_COPY: base.copy, KILN_WORK_DIR: workDir };

async function restore({ paths, share, signal }: KiwiJob, archive: string): Promise<void> {
  try {
    await unpackRoot(archive, paths, signal);
  } catch (error) {
    await share?.distrust();
    throw error;
  }
}

/** Makes a repository of the packages, whose checksums are already verified. */
async function indexPackages({ input, paths, signal, workDir }: KiwiJob, { builderRoot }: BareTools): Promise<void> {
  if (input.packageType === "deb") return; // the agent has written the repository
  let lastWords = "";
  const indexing = inRoot(builderRoot, workDir, ["createrepo_c", ["--quiet", "--no-database", paths.packages]]);
  const [command, args] = enclosed(...indexing);
  const exit = await run(command, args, {
    env: kiwiEnvironment(paths),
    cwd: workDir,
    signal,
    onLine: (line) => (lastWords = line),
  });
  if (hasSucceeded(exit)) return;
  throw new Error(`createrepo_c ended with ${endOf(exit)}: ${lastWords || "no reason given"}`);
}

/**
 * KIWI makes folders for its cache and for the repository in the root too, and gives every folder above them the mode
 * of a new one. So their paths must not depend on where the agent keeps its state: below /var/tmp, the image's own
 * /var/tmp would lose its mode 1777.
 */
const sharedPaths = { cache: "/var/cache/kiwi", packages: "/var/cache/kiwi-packages" };

const seenByKiwi = (paths: KiwiPaths): KiwiPaths => ({ ...paths, ...sharedPaths });

/** Shows a command the folders of a build at these paths, in the mount namespace that it runs in. */
const withSharedPaths = (
  { cache, packages }: KiwiPaths,
  [command, args]: [string, string[]],
): [command: string, args: string[]] => [
  "sh",
  [
    "-c",
    `umask 022 && mkdir -p ${sharedPaths.cache} ${sharedPaths.packages} &&
      mount --bind "$0" ${sharedPaths.cache} && mount --bind "$1" ${sharedPaths.packages} && shift && exec "$@"`,
    cache,
    packages,
    command,
    ...args,
  ],
];

/**
 * Limits the number of open files. Some programs close every descriptor that they might have, and with a limit of a
 * million that takes minutes.
 */
const withFewFiles = (command: string, args: string[]): [command: string, args: string[]] => [
  "prlimit",
  ["--nofile=1024:", "--", command, ...args],
];

interface KiwiRun {
  tools: BareTools;
  args: string[];
  log: string;
  /** KIWI loads its modules while this runs, and then starts. */
  first: () => Promise<void>;
  /** Variables in addition to `kiwiEnvironment`. */
  environment?: Record<string, string>;
}

async function runKiwi(job: KiwiJob, { tools, args, log: logFile, first, environment: more }: KiwiRun): Promise<void> {
  const { paths, input, workDir, signal } = job;
  const { arch } = input.appliance;
  const environment = {
    ...kiwiEnvironment(paths),
    ...environmentFor(arch),
    ...reproducibleEnvironment(input, shims),
    ...more,
  };
  const { kiwi: program, builderRoot } = tools;
  const loaded = builderRoot ? preloadedInDebian(shims) : await preloaded(program, environment.PATH);
  if (!loaded) await first();
  let notes = noNotes;
  const log = followFile(logFile, (line) => {
    notes = note(notes, line);
    job.onLine(line);
  });
  let lastWords = "";
  const [start = program, ...startArguments] = loaded ?? [program];
  const machine = asMachine(arch, start, [...startArguments, ...args]);
  const command = withSharedPaths(paths, withFewFiles(...machine));
  const exit = await run(...enclosed(...inRoot(builderRoot, workDir, command)), {
    env: environment,
    cwd: workDir,
    signal,
    ...(loaded && { input: first }),
    onOutput: async (output) => void output.resume(),
    onLine: (line) => (lastWords = line.trim() || lastWords),
  }).finally(() => log.end());
  if (hasSucceeded(exit)) return;
  throw new BuildFailure(failureOf(notes, { exit, lastWords, root: paths.root }));
}
