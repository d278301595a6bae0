import { cpSync, copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import {
  createArguments,
  kiwiEnvironment,
  makeKiwiPlace,
  prepareArguments,
  shims,
  type KiwiPlace,
} from "../builder-agent/src/build/kiwi.ts";
import { packImage } from "../builder-agent/src/build/pack.ts";
import { readResult } from "../builder-agent/src/build/result.ts";
import type { ImageType } from "../builder-agent/src/contract.ts";
import { endOf, enclosed, run } from "../builder-agent/src/process.ts";
import { openWorkDir } from "../builder-agent/src/work-dir.ts";
import { restClient, type RestClient } from "../test/acceptance/support/rest.ts";
import { verdict, type Figure } from "./figure.ts";
import { cloneJeos, finished, postBuild, type Place } from "./place.ts";
import { median, spread } from "./statistics.ts";
import { waitUntil } from "./wait.ts";

const rounds = 3;
const limitMs = 900_000;

/** POST → finished, against the same KIWI commands by hand with the same packing, digests and one copy of the result. */
export const measureBuild = (place: Place): Promise<Figure[]> =>
  againstBare(place, { what: "a build (oem) through the service", imageType: "oem", more: {}, bar: 1.1 });

/** Another format of a version that is there, against bare KIWI from the packages on. KIWI's description of a vmx is an oem's. */
export const measureMulti = (place: Place): Promise<Figure[]> =>
  againstBare(place, {
    what: "a second format (vmx after oem) with multi=true",
    imageType: "vmx",
    more: { multi: "true" },
    bar: 0.6,
  });

interface Compared {
  what: string;
  imageType: ImageType;
  /** Parameters of the POST besides those of every build. */
  more: Record<string, string>;
  bar: number;
}

async function againstBare(place: Place, { what, imageType, more, bar }: Compared): Promise<Figure[]> {
  const service = await place.withAgent();
  const client = restClient(service.ready());
  const applianceId = await cloneJeos(client);
  const folder = place.folder();
  const kept = join(folder, "kept");
  const work = join(service.stateDir, "agent/work");
  await keepDescription(client, { applianceId, work, to: kept });

  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    await untilEmpty(work);
    bare.push(await buildBare(kept, folder, imageType));
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

/** The agent tidies up after a build has finished, which is not to fall into the next measurement. */
const untilEmpty = (work: string) =>
  waitUntil("the agent has tidied up", { seconds: 30, everyMs: 50 }, () => readdirSync(work).length === 0);

async function buildOurs(client: RestClient, applianceId: string, asked: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  await finished(client, await postBuild(client, applianceId, asked));
  return (performance.now() - startedAt) / 1000;
}

/** Copies what the agent gives to KIWI, description and packages, while a first build runs, which also warms the caches for all that follow. */
async function keepDescription(client: RestClient, from: { applianceId: string; work: string; to: string }) {
  const buildId = await postBuild(client, from.applianceId);
  const workDir = await waitUntil("the agent works", { seconds: 60, everyMs: 50 }, () =>
    readdirSync(from.work).find((name) => name.startsWith(`build-${buildId}-`)),
  );
  // KIWI's log is there, so what it is given is whole.
  await waitUntil("KIWI works", { seconds: 60, everyMs: 50 }, () =>
    existsSync(join(from.work, workDir, "prepare.log")),
  );
  for (const name of given) cpSync(join(from.work, workDir, name), join(from.to, name), { recursive: true });
  const config = join(from.to, "description/config.xml");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll(join(from.work, workDir), placeholder));
  await finished(client, buildId);
}

const given = ["description", "packages"];
/** Stands in the kept description for the directory of the build that uses it. */
const placeholder = "/kiln-bench-work-dir";

/** → seconds until the copy is there; tidying up is not counted, as it is not for ours. */
async function buildBare(kept: string, folder: string, imageType: ImageType): Promise<number> {
  await using dir = await openWorkDir(folder, "bare", () => {});
  const signal = AbortSignal.timeout(limitMs);
  const place = await makeKiwiPlace(dir.path);
  const env = bareEnvironment(place, dir.path);
  for (const name of given) cpSync(join(kept, name), join(dir.path, name), { recursive: true });
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
    machine: { memoryMb: 512, hasCdrom: false, is64Bit: true },
  };
  const packed = await packImage(built, "bare", { workDir: dir.path, signal });
  await mkdir(join(dir.path, "copy"));
  copyFileSync(packed.path, join(dir.path, "copy", packed.fileName));
  return (performance.now() - startedAt) / 1000;
}

/** Of what stands before the host's programs for our KIWI, bare KIWI has the one without which some kernels let it make no disk. */
function bareEnvironment(place: KiwiPlace, dir: string): Record<string, string> {
  const mended = join(dir, "mended");
  cpSync(join(shims, "partx"), join(mended, "partx"));
  const environment = kiwiEnvironment(place);
  return { ...environment, PATH: environment.PATH.replace(shims, mended) };
}

/** KIWI's log goes to its file; what it prints is the same once more. */
const onOutput = async (output: Readable) => void output.resume();
