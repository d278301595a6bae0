import { cpSync, copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import {
  createArguments,
  kiwiEnvironment,
  makeKiwiPaths,
  prepareArguments,
  shims,
  type KiwiPaths,
} from "../builder-agent/src/run/kiwi.ts";
import { packImage } from "../builder-agent/src/run/pack.ts";
import { readResult } from "../builder-agent/src/run/result.ts";
import { imageFormats, imageTypes, type ImageType } from "../builder-agent/src/contract.ts";
import { endOf, enclosed, run } from "../builder-agent/src/process.ts";
import { openWorkDir } from "../builder-agent/src/work-dir.ts";
import { restClient, type RestClient } from "../test/acceptance/support/rest.ts";
import { verdict, type Figure } from "./figure.ts";
import { cloneJeos, finished, postBuild, type Place } from "./place.ts";
import { median, spread } from "./statistics.ts";
import { waitUntil } from "./wait.ts";

const rounds = 3;
const limitMs = 900_000;

/**
 * The time from POST to finished, compared with running the same KIWI commands, packing and digests by hand, and one
 * copy of the result.
 */
export const measureBuild = (place: Place): Promise<Figure[]> =>
  againstBare(place, { what: "a build (oem) through the service", imageType: "oem", more: {}, bar: 1.1 });

/**
 * Another format of an existing version, compared with bare KIWI after the packages are fetched. A vmx has the same
 * description as an oem.
 */
export const measureMulti = (place: Place): Promise<Figure[]> =>
  againstBare(place, {
    what: "a second format (vmx after oem) with multi=true",
    imageType: "vmx",
    more: { multi: "true" },
    bar: 0.6,
  });

const diskFormats = imageTypes.filter((type) => imageFormats[type].product === "disk");

/**
 * A version in all formats of its disk, asked for at once, compared with its first format from nothing. Each further
 * format is the same disk in another container.
 */
export async function measureFormats(place: Place): Promise<Figure[]> {
  const client = restClient((await place.withAgent()).ready());
  const others = diskFormats.filter((type) => type !== "oem");
  const [ones, alls]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const applianceId = await cloneJeos(client); // a new one has nothing that a build could continue from
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1000;
    await finished(client, await postBuild(client, applianceId));
    const one = seconds();
    const ids = await Promise.all(
      others.map((type) => postBuild(client, applianceId, { image_type: type, multi: "true" })),
    );
    await Promise.all(ids.map((id) => finished(client, id)));
    place.say(
      `round ${round}: ${one.toFixed(1)} s, all ${seconds().toFixed(1)} s${round === 0 ? " (not counted)" : ""}`,
    );
    if (round === 0) continue; // warms the caches
    ones.push(one);
    alls.push(seconds());
  }
  const ratio = median(alls) / median(ones);
  const further = (ratio - 1) / others.length;
  return [
    {
      what: `all ${diskFormats.length} formats of a disk: POST → finished`,
      ours: spread(alls, 1, " s"),
      against: spread(ones, 1, " s"),
      ratio: ratio.toFixed(2),
      bar: "≤ 2.00",
      verdict: verdict(ratio <= 2),
    },
    {
      what: "each further format, on average",
      ours: `${((median(alls) - median(ones)) / others.length).toFixed(1)} s`,
      against: spread(ones, 1, " s"),
      ratio: further.toFixed(3),
      bar: "≤ 0.15",
      verdict: verdict(further <= 0.15),
    },
  ];
}

interface Compared {
  what: string;
  imageType: ImageType;
  /** Additional parameters of the POST. */
  more: Record<string, string>;
  bar: number;
}

async function againstBare(place: Place, { what, imageType, more, bar }: Compared): Promise<Figure[]> {
  const service = await place.withAgent();
  const client = restClient(service.ready());
  const applianceId = await cloneJeos(client);
  const folder = place.folder();
  const saved = join(folder, "saved");
  const work = join(service.stateDir, "agent/work");
  await saveDescription(client, { applianceId, work, to: saved });

  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    await untilEmpty(work);
    bare.push(await buildBare(saved, folder, imageType));
    ours.push(await buildOurs(client, applianceId, { image_type: imageType, ...more }));
    place.say(`round ${round}: ${ours.at(-1)?.toFixed(1)} s and ${bare.at(-1)?.toFixed(1)} s`);
  }
  const ratio = median(ours) / median(bare);
  return [
    {
      what: `${what}: POST → finished`,
      ours: spread(ours, 1, " s"),
      against: spread(bare, 1, " s"),
      ratio: ratio.toFixed(3),
      bar: `≤ ${bar.toFixed(2)}`,
      verdict: verdict(ratio <= bar),
    },
  ];
}

/** The agent cleans up after a build. That must not affect the next measurement. */
const untilEmpty = (work: string) =>
  waitUntil("the agent has cleaned up", { seconds: 30, everyMs: 50 }, () => readdirSync(work).length === 0);

async function buildOurs(client: RestClient, applianceId: string, asked: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  await finished(client, await postBuild(client, applianceId, asked));
  return (performance.now() - startedAt) / 1000;
}

/** Copies KIWI's description and packages from the agent during a first build, which also warms the caches for the following ones. */
async function saveDescription(client: RestClient, from: { applianceId: string; work: string; to: string }) {
  const buildId = await postBuild(client, from.applianceId);
  const workDir = await waitUntil("the agent works", { seconds: 60, everyMs: 50 }, () =>
    readdirSync(from.work).find((name) => name.startsWith(`build-${buildId}-`)),
  );
  // KIWI's log exists, so its input is complete.
  await waitUntil("KIWI works", { seconds: 60, everyMs: 50 }, () =>
    existsSync(join(from.work, workDir, "prepare.log")),
  );
  for (const name of given) cpSync(join(from.work, workDir, name), join(from.to, name), { recursive: true });
  const config = join(from.to, "description/config.xml");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll(join(from.work, workDir), placeholder));
  await finished(client, buildId);
}

const given = ["description", "packages"];
/** A placeholder in the saved description for the directory of the build that uses it. */
const placeholder = "/kiln-bench-work-dir";

/** Returns the seconds until the copy exists. Clean-up does not count, as in our own builds. */
async function buildBare(saved: string, folder: string, imageType: ImageType): Promise<number> {
  await using dir = await openWorkDir(folder, "bare", () => {});
  const signal = AbortSignal.timeout(limitMs);
  const place = await makeKiwiPaths(dir.path);
  const env = bareEnvironment(place, dir.path);
  for (const name of given) cpSync(join(saved, name), join(dir.path, name), { recursive: true });
  const config = join(place.description, "config.xml");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll(placeholder, dir.path));
  const startedAt = performance.now();
  for (const args of [prepareArguments(place, imageType, []), createArguments(place, imageType)]) {
    const [command, enclosedArgs] = enclosed("kiwi-ng", args);
    let lastWords = "";
    const onLine = (line: string) => void (lastWords = line.trim() || lastWords);
    const options = { env, cwd: dir.path, signal, onOutput, onLine };
    const exit = await run(command, enclosedArgs, options);
    if (!("code" in exit) || exit.code !== 0) throw new Error(`kiwi-ng by hand: ${endOf(exit)}: ${lastWords}`);
  }
  const built = {
    ...(await readResult(place.target, imageType)),
    machine: { memoryMb: 512, hasCdrom: false, arch: "x86_64" as const },
  };
  const packed = await packImage(built, "bare", { workDir: dir.path, signal });
  await mkdir(join(dir.path, "copy"));
  copyFileSync(packed.path, join(dir.path, "copy", packed.fileName));
  return (performance.now() - startedAt) / 1000;
}

/** Bare KIWI gets only one of our shims for the host's programs, which it needs to make disks on some kernels. */
function bareEnvironment(place: KiwiPaths, dir: string): Record<string, string> {
  const fixed = join(dir, "fixed");
  cpSync(join(shims, "partx"), join(fixed, "partx"));
  const environment = kiwiEnvironment(place);
  return { ...environment, PATH: environment.PATH.replace(shims, fixed) };
}

/** Drops KIWI's output, which repeats its log file. */
const onOutput = async (output: Readable) => void output.resume();
