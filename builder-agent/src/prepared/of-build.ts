import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Deliverable } from "../run/artifacts.ts";
import { packingOf } from "../run/image.ts";
import { readResult } from "../run/result.ts";
import type { Config } from "../config.ts";
import { imageFormats, partDigestHeader, type BuildClaim, type BuildConditions } from "../contract.ts";
import type { Lease } from "../lease.ts";
import { sentenceOf } from "../log.ts";
import { quietLimit, receive } from "../receive.ts";
import { RemoteRefusal } from "../retry.ts";
import { digestsOfFile } from "../upload/checksum.ts";
import { upload, wholeFile } from "../upload/upload.ts";
import type { WorkerApi } from "../worker-api.ts";
import { BaseShare } from "./base-share.ts";
import type { PreparedCaches } from "./caches.ts";
import type { DiskSlot } from "./disks.ts";
import { diskKey, preparedKey } from "./key.ts";
import { RootShare, type RemoteRoots } from "./share.ts";

export interface ShareParts {
  /** Undefined if this agent caches nothing. */
  prepared?: PreparedCaches | undefined;
  api: Pick<WorkerApi, "readPrepared" | "artifact">;
  config: Pick<Config, "isolation">;
  /** The `builder` of Preparer (key.ts). */
  builder: string;
}

export interface ShareOfBuild {
  workDir: string;
  signal: AbortSignal;
  onNote: (note: string) => void;
}

/**
 * Finds or prepares the root of a claimed build. Only a first attempt uses roots of other agents, so an unusable
 * archive costs a build at most that attempt.
 */
export async function joinRoots(
  claim: BuildClaim,
  { prepared, api, config, builder }: ShareParts,
  build: ShareOfBuild,
): Promise<RootShare | undefined> {
  if (!prepared) return undefined;
  const key = preparedKey(claim.input, { builder, isolation: config.isolation });
  const isShared = claim.sharesRoot === true && claim.attempt === 1;
  const remote = remoteRoots(api, { id: claim.buildId, token: claim.token });
  return await RootShare.join({ ...build, roots: prepared.roots, key, ...(isShared && { remote }) });
}

/** Finds the base that a claimed build of Debian starts from, if it runs without a guest. */
export async function joinBases(
  { input }: BuildClaim,
  { prepared, config, builder }: ShareParts,
  build: ShareOfBuild,
): Promise<BaseShare | undefined> {
  if (!prepared || input.packageType !== "deb" || config.isolation !== "none") return undefined;
  return await BaseShare.join({ ...build, bases: prepared.bases, input, builder });
}

/** Whether an image type is a disk, in any container. */
const isDisk = ({ imageType }: BuildClaim["input"]): boolean => imageFormats[imageType].product === "disk";

/** The disk that this build would make, if a build of another type already made it here. */
export async function takeDisk(
  { input }: BuildClaim,
  { prepared, config, builder }: ShareParts,
  { workDir, onNote }: ShareOfBuild,
): Promise<(Deliverable & Pick<BuildConditions, "startedFrom">) | undefined> {
  if (!prepared || !isDisk(input)) return undefined;
  const target = join(workDir, "cached-disk");
  await mkdir(target);
  const key = diskKey(input, { builder, isolation: config.isolation });
  const store = await prepared.disks.take(key, { target, workDir });
  if (!store) return undefined;
  onNote("the disk is the one of an earlier format of this version");
  const result = await readResult(target, input.imageType, input.packageType);
  return { ...result, store, ...packingOf(input), startedFrom: { kind: "disk", key } };
}

/** Caches the disk that KIWI has made, for other types of the same version. If that fails, the build goes on. */
export async function beginDisk(
  { input }: BuildClaim,
  { prepared, config, builder }: ShareParts,
  built: Deliverable,
  { workDir, onNote }: ShareOfBuild,
): Promise<DiskSlot | undefined> {
  if (!prepared || "store" in built || !isDisk(input)) return undefined;
  const note = (error: unknown) => onNote(`could not cache the disk for other formats: ${sentenceOf(error)}`);
  try {
    const target = join(workDir, "target");
    const packages = (await readdir(target)).find((name) => name.endsWith(".packages"));
    if (packages === undefined) return undefined;
    const key = diskKey(input, { builder, isolation: config.isolation });
    const slot = await prepared.disks.begin(key, { image: built.image, packages: join(target, packages) });
    return {
      publish: (store) => slot.publish(store).catch(note),
      [Symbol.asyncDispose]: () => slot[Symbol.asyncDispose](),
    };
  } catch (error) {
    note(error);
    return undefined;
  }
}

/** Where a build ran, and what it used of an earlier one: of these, at most one has something. */
export function conditionsOf(
  { isolation }: Pick<Config, "isolation">,
  sources: readonly (Pick<BuildConditions, "startedFrom"> | undefined)[],
): BuildConditions {
  const startedFrom = sources.find((source) => source?.startedFrom)?.startedFrom;
  return { isolation, ...(startedFrom && { startedFrom }) };
}

/** Roots of this build's appliance, which agents share through the Worker. */
const remoteRoots = (api: Pick<WorkerApi, "readPrepared" | "artifact">, build: Lease): RemoteRoots => ({
  async fetch(key, into, signal) {
    using quiet = quietLimit(signal);
    const answer = await api.readPrepared(build, key, quiet.signal).catch(undefinedWhenMissing);
    if (!answer) return false;
    const actual = await receive(answer.body, into, { onBytes: quiet.heard, flags: "wx", mode: 0o600 });
    if (actual !== answer.headers.get(partDigestHeader))
      throw new Error("its checksum differs from that of the root that the other agent stored");
    return true;
  },
  async has(key, signal) {
    const answer = await api.readPrepared(build, key, signal).catch(undefinedWhenMissing);
    await answer?.body?.cancel();
    return answer !== undefined;
  },
  async give(file, signal) {
    const archive = { path: file, fileName: "prepared.tar.zst", digests: await digestsOfFile(file, signal) };
    await upload(api.artifact(build, "prepared", signal), wholeFile(archive), () => {});
  },
});

function undefinedWhenMissing(error: unknown): undefined {
  if (error instanceof RemoteRefusal && error.status === 404) return undefined;
  throw error;
}
