/** Builds Debian from the same packages with the agent's own code and with KIWI as Debian ships it. */
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createArguments,
  environmentFor,
  kiwiEnvironment,
  makeKiwiPaths,
  prepareArguments,
  shims,
  type KiwiPaths,
} from "../../builder-agent/src/run/kiwi.ts";
import { preloaded } from "../../builder-agent/src/run/preloaded.ts";
import { packImage } from "../../builder-agent/src/run/pack.ts";
import { readResult } from "../../builder-agent/src/run/result.ts";
import { BaseShare } from "../../builder-agent/src/prepared/base-share.ts";
import { openBaseRoots, type BaseRoots } from "../../builder-agent/src/prepared/bases.ts";
import { endOf, enclosed, run } from "../../builder-agent/src/process.ts";
import { openWorkDir } from "../../builder-agent/src/work-dir.ts";
import { debianInput, type DebianInput } from "../../test/acceptance/support/debian-input.ts";
import { buildHere, serveFiles } from "../../test/acceptance/support/local-build.ts";
import { processorSeconds } from "../processor-time.ts";
import { type Figure, verdict } from "../figure.ts";
import type { Place } from "../place.ts";
import { median, spread } from "../statistics.ts";

const rounds = 1;
const limitMs = 3_600_000;
const machine = { memoryMb: 512, hasCdrom: false, arch: "x86_64" as const };
const signal = () => AbortSignal.timeout(limitMs);

/**
 * Builds JeOS as `oem`, packed for upload: from scratch, with one more small package, and with bare KIWI in two ways.
 */
export async function measureDebianBuild(place: Place): Promise<Figure[]> {
  const packages = ["console-setup"];
  const jeos = debianInput({ release: "bookworm", packages });
  const larger = debianInput({ release: "bookworm", packages: [...packages, "hello"] });
  // Not below /dev, because apt runs in the image's root, which has its own /dev.
  const folder = place.folder();
  const times: Record<"first" | "withoutWaits" | "second" | "shipped", Taken[]> = {
    first: [],
    withoutWaits: [],
    second: [],
    shipped: [],
  };
  const add = (build: keyof typeof times, taken: Taken) => {
    times[build].push(taken);
    place.say(`${build}: ${taken.elapsed.toFixed(1)} s, ${taken.processor.toFixed(1)} s of a processor`);
  };
  for (let round = 1; round <= rounds; round++) {
    const saved = join(folder, `saved-${round}`);
    const bases = await openBaseRoots(join(folder, `bases-${round}`), { maxBytes: Infinity });
    add("first", await buildOurs(jeos, { folder, bases, saved }));
    add("second", await buildOurs(larger, { folder, bases }));
    add("withoutWaits", await buildBare(saved, folder, withoutWaits));
    add("shipped", await buildBare(saved, folder, asShipped));
  }
  const { first } = times;
  return [
    ...figures(
      "JeOS of Debian 12 (oem) from nothing, and bare KIWI with the same waits left out",
      [first, times.withoutWaits],
      1.1,
    ),
    ...figures("the same, and KIWI as Debian 12 ships it", [first, times.shipped], 0.5),
    ...figures("JeOS with one more small package, and the first build", [times.second, first], 0.5),
  ];
}

/** The seconds that a build took. */
interface Taken {
  elapsed: number;
  /**
   * Processor time of all its processes. Other work on this machine affects it less than it affects the elapsed time.
   */
  processor: number;
}

function stopwatch(): () => Taken {
  const [startedAt, before] = [performance.now(), processorSeconds([process.pid])];
  return () => ({
    elapsed: (performance.now() - startedAt) / 1000,
    processor: processorSeconds([process.pid]) - before,
  });
}

function figures(what: string, [ours, against]: [Taken[], Taken[]], bar: number): Figure[] {
  return (["elapsed", "processor"] as const).map((measure) => {
    const [one, other] = [ours.map((taken) => taken[measure]), against.map((taken) => taken[measure])];
    const ratio = median(one) / median(other);
    return {
      what: measure === "elapsed" ? what : "… by processor time",
      ours: spread(one, 1, " s"),
      against: spread(other, 1, " s"),
      ratio: ratio.toFixed(3),
      bar: measure === "elapsed" ? `≤ ${bar.toFixed(2)}` : "reported",
      verdict: measure === "elapsed" ? verdict(ratio <= bar) : "reported",
    };
  });
}

/** The place of the build. */
interface Ours {
  folder: string;
  bases: BaseRoots;
  /** The folder for a copy of KIWI's input. */
  saved?: string;
}

/** Builds a frozen input with the agent's own code, and packs it. */
export async function buildOurs(
  { input, folder: archives }: DebianInput,
  { folder, bases, saved }: Ours,
): Promise<Taken> {
  using server = await serveFiles(archives, "/repositories/debian/");
  await using dir = await openWorkDir(folder, "base", () => {});
  const taken = stopwatch();
  const base = await BaseShare.join({
    bases,
    input,
    builder: "bench",
    workDir: dir.path,
    signal: signal(),
    onNote: () => {},
  });
  return await buildHere(input, { stateDir: folder, url: server.url, base }, async (built, workDir) => {
    await packImage(built, "ours", { workDir, signal: signal() });
    const result = taken();
    if (saved !== undefined) save(workDir, saved);
    return result;
  });
}

const given = ["description", "packages"];
/** A placeholder in the saved description for the directory of the build that uses it. */
const placeholder = "/kiln-bench-work-dir";

function save(workDir: string, saved: string): void {
  for (const name of given) cpSync(join(workDir, name), join(saved, name), { recursive: true });
  const config = join(saved, "description/config.xml");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll(workDir, placeholder));
}

/** How bare KIWI runs. */
interface Bare {
  environment(place: KiwiPaths, dir: string): Record<string, string>;
  /** The command that starts the program. */
  command(path: string): Promise<string[]>;
  /** Changes config.sh. */
  script(text: string): string;
}

/** Skips the same waits as Kiln's builds. */
const withoutWaits: Bare = {
  environment: (place) => ({ ...kiwiEnvironment(place), ...environmentFor("x86_64") }),
  command: async (path) => (await preloaded("kiwi-ng", path)) ?? ["kiwi-ng"],
  script: (text) => text,
};

/** Uses Debian's own programs, except partx, because KIWI needs ours to make disks on some kernels. */
const asShipped: Bare = {
  environment(place, dir) {
    const fixed = join(dir, "fixed");
    cpSync(join(shims, "partx"), join(fixed, "partx"));
    const { HOME, PATH, LANG } = kiwiEnvironment(place);
    return { HOME, LANG, PATH: PATH.replace(shims, fixed) };
  },
  command: async () => ["kiwi-ng"],
  script: (text) => text.replace(/^configure_initial_archive$/m, ""),
};

async function buildBare(saved: string, folder: string, bare: Bare): Promise<Taken> {
  await using dir = await openWorkDir(folder, "bare", () => {});
  const place = await makeKiwiPaths(dir.path, { packageType: "deb" });
  const env = bare.environment(place, dir.path);
  for (const name of given) cpSync(join(saved, name), join(dir.path, name), { recursive: true });
  change(join(place.description, "config.xml"), (text) => text.replaceAll(placeholder, dir.path));
  change(join(place.description, "config.sh"), bare.script);
  const taken = stopwatch();
  for (const args of [prepareArguments(place, "oem", []), createArguments(place, "oem")]) {
    const command = [...(await bare.command(env["PATH"] ?? "")), ...args];
    await kiwi(command, { env, cwd: dir.path });
  }
  const built = { ...(await readResult(place.target, "oem", "deb")), machine };
  const packed = await packImage(built, "bare", { workDir: dir.path, signal: signal() });
  mkdirSync(join(dir.path, "copy"));
  copyFileSync(packed.path, join(dir.path, "copy", packed.fileName));
  return taken();
}

const change = (file: string, edit: (text: string) => string): void =>
  writeFileSync(file, edit(readFileSync(file, "utf8")));

/** Some programs close every possible file descriptor. With a limit of a million, that would take minutes. */
async function kiwi(command: string[], place: { env: Record<string, string>; cwd: string }): Promise<void> {
  let lastWords = "";
  const exit = await run(...enclosed("prlimit", ["--nofile=1024:", "--", ...command]), {
    ...place,
    signal: signal(),
    input: async () => {},
    onOutput: async (output) => void output.resume(),
    onLine: (line) => void (lastWords = line.trim() || lastWords),
  });
  if (!("code" in exit) || exit.code !== 0) throw new Error(`kiwi-ng by hand: ${endOf(exit)}: ${lastWords}`);
}
