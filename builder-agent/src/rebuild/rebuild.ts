import { parseLogLine } from "../run/log-line.ts";
import type { Config } from "../config.ts";
import { FreeSpaceWatch } from "../disk-room.ts";
import { imageFormats, type FrozenInput } from "../contract.ts";
import { getCapabilities } from "../doctor/capabilities.ts";
import { obstaclesTo } from "../doctor/check.ts";
import { guestOfBuild } from "../guest/means.ts";
import { sentenceOf, type Log } from "../log.ts";
import { openConfiguredPackageCache } from "../packages/package-cache.ts";
import { StoredPackageReader } from "../packages/stored-packages.ts";
import { importRoot } from "../roots/transfer.ts";
import { listRoots, type StoredRoot } from "../roots/store.ts";
import { RootFault } from "../roots/definition.ts";
import { endReason } from "../run/end-reason.ts";
import { buildImage, type BuiltImage } from "../run/image.ts";
import { packImage, type PackedImage } from "../run/pack.ts";
import { openWorkDir } from "../work-dir.ts";
import { impossible, unverified } from "./outcome.ts";
import type { Claimed } from "./provenance.ts";
import { reachOf } from "../packages/mirror.ts";
import { publishedPackages } from "./published.ts";

export interface Rebuild {
  claimed: Claimed;
  input: FrozenInput;
  config: Config;
  /** The URL of the sources of the image at the service. */
  buildUrl: string;
  /** The file of the builder root, if the provenance names one. */
  rootFile: string | undefined;
  signal: AbortSignal;
  /** Prints a line for a person while it works. */
  say: (line: string) => void;
}

/** The second image, and the packages in it. */
export type Rebuilt = PackedImage & Pick<BuiltImage, "installed">;

/** The time limit, which is the service's own for a build. */
const timeLimitMs = 4 * 60 * 60_000;

/** The builder root that the provenance names, from a file or from this state directory. Undefined if it names none. */
async function findNamedRoot(
  { root }: Pick<Claimed, "root">,
  { stateDir, rootFile }: { stateDir: string; rootFile: string | undefined },
): Promise<StoredRoot | undefined> {
  if (!root) return undefined;
  if (rootFile !== undefined)
    return await importRoot(rootFile, { stateDir, sha256: root.sha256 }).catch((error: unknown) => {
      throw error instanceof RootFault ? unverified(`The builder root: ${error.message}`) : error;
    });
  const found = (await listRoots(stateDir)).find(({ sha256 }) => sha256 === root.sha256);
  if (found) return found;
  throw impossible(
    `It was built in the builder root ${root.name} with the SHA-256 ${root.sha256}. Get that file from the operator of the service, and name it with --root FILE.`,
  );
}

/** Builds a frozen input from scratch, as an agent does. The packed image exists only while `use` runs. */
export async function rebuildImage<T>(rebuild: Rebuild, use: (rebuilt: Rebuilt) => Promise<T>): Promise<T> {
  const { claimed, input, config, say } = rebuild;
  const { stateDir } = config;
  const builderRoot = await findNamedRoot(claimed, { stateDir, rootFile: rebuild.rootFile });
  const kiwi = await refuseUnable(input, { ...config, root: builderRoot?.facts.name ?? "host" });
  if (!builderRoot && kiwi !== claimed.kiwi)
    say(`It was built with KIWI ${claimed.kiwi} of its build host. This machine has KIWI ${kiwi}.`);
  await using dir = await openWorkDir(stateDir, `rebuild-${claimed.buildId}`, logTo(say));
  using space = new FreeSpaceWatch(stateDir);
  const signal = AbortSignal.any([rebuild.signal, AbortSignal.timeout(timeLimitMs)]);
  try {
    const rebuilt = await build({ ...rebuild, signal }, { workDir: dir.path, builder: kiwi, builderRoot });
    return await use(rebuilt);
  } catch (error) {
    rebuild.signal.throwIfAborted();
    const { reason } = await endReason(error, { timeLimitMs, space });
    throw impossible(reason, { cause: error });
  }
}

interface Tools {
  workDir: string;
  builder: string;
  builderRoot: StoredRoot | undefined;
}

async function build({ claimed, input, config, buildUrl, signal, say }: Rebuild, tools: Tools): Promise<Rebuilt> {
  const { workDir } = tools;
  const lease = { id: claimed.buildId, token: "" };
  const store = { api: publishedPackages(buildUrl), lease, signal, onNote: say };
  await using guest = config.isolation === "vm" ? await guestOfBuild(config, { ...claimed, input }) : undefined;
  const built = await buildImage(input, {
    ...tools,
    kiwi: config.kiwi,
    guest,
    reach: reachOf(config, { credentials: {}, buildUrl }),
    packageCache: await openConfiguredPackageCache(config, logTo(say)),
    stored: new StoredPackageReader(store),
    onStoredCopy: (reason) => say(`${reason} The service's copy has the right checksum.`),
    advice: "",
    signal,
    onLine: (line) => sayOwn(line, say),
    onPhase: say,
    onProgress: () => {},
  });
  const packed = await packImage(built, input.imageName, { workDir, signal });
  return { ...packed, installed: built.installed };
}

/** The agent's own lines, without KIWI's. */
function sayOwn(line: string, say: (line: string) => void): void {
  const [, own] = /^Kiln: (.*)$/.exec(parseLogLine(line).text) ?? [];
  if (own !== undefined) say(own);
}

/** Refuses an image that this machine cannot build. Returns KIWI's version. */
async function refuseUnable({ appliance, imageType, packageType }: FrozenInput, config: Config): Promise<string> {
  const { capabilities, report } = await getCapabilities(config).catch((cause: unknown) => {
    throw impossible(`This machine could not be examined: ${sentenceOf(cause)}`, { cause });
  });
  const needs = [imageType, appliance.arch, ...(packageType === "deb" ? (["deb"] as const) : [])];
  const lacks = needs.flatMap((need) => obstaclesTo(need, report));
  const [first] = lacks;
  if (!first) return capabilities.builder;
  const names = [...new Set(lacks.map(({ name }) => name))].join(", ");
  throw impossible(
    `This machine cannot build ${imageFormats[imageType].label}: ${names}. ${first.detail}. ${first.fix}`.trim(),
  );
}

const logTo =
  (say: (line: string) => void): Log =>
  (event) =>
    say(event);
