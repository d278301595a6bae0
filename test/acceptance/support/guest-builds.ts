import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { startBuild, type BuildParts } from "../../../builder-agent/src/run/run-build.ts";
import type { BuildFinished, ImageType } from "../../../builder-agent/src/contract.ts";
import { openImageCache } from "../../../builder-agent/src/image-cache.ts";
import { openPrepared } from "../../../builder-agent/src/prepared/caches.ts";
import { connectWorker } from "../../../builder-agent/src/worker-api.ts";
import { uploadedFile } from "../../../builder-agent/test/fake-artifacts.ts";
import { startFakeWorker, type FakeBuild } from "../../../builder-agent/test/fake-worker.ts";
import { silent, temporaryDir, testConfig } from "../../../builder-agent/test/support/agent-place.ts";
import { unpacked, type Downloaded } from "./image-types.ts";
import { sampleDistribution, serveDistribution } from "./local-build.ts";
import { resolvedTiny } from "./resolved-tiny.ts";

// The agent's log lines about the origin of an image (builder-agent/src/prepared).
export const fromRoot = "the image is made from a root that was prepared before";
export const fromDisk = "the disk is the one of an earlier format of this version";

/** A build that has succeeded, and its downloads. */
export interface GuestBuild {
  finished: BuildFinished;
  /** The agent's own lines in the build's log. */
  words: string[];
  downloaded: Downloaded;
}

interface GuestBuilds extends AsyncDisposable {
  stateDir: string;
  /** Tiny Linux of this type. */
  build: (wish: { imageType: ImageType; requests: string[] }) => Promise<GuestBuild>;
}

/**
 * An agent's builds in guests without hardware virtualisation. Roots that one build leaves for others are stored until
 * the end.
 */
export async function guestBuilds(): Promise<GuestBuilds> {
  const distribution = sampleDistribution();
  const state = await temporaryDir();
  const stateDir = state.path;
  const mirror = await serveDistribution(distribution);
  const worker = await startFakeWorker();
  const parts = await partsOf(worker.url, stateDir, [new URL(mirror.url).host]);
  return {
    stateDir,
    async build(wish) {
      const input = await resolvedTiny(distribution, wish);
      const repositories = input.repositories.map((each) => ({
        ...each,
        url: each.url.replace("service:", mirror.url),
      }));
      const build = worker.queueBuild({ ...input, repositories }, { timeLimitMs: 3_600_000 });
      build.status = "running";
      await startBuild(build.claim, parts).done;
      return guestBuildOf(build, stateDir);
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      mirror[Symbol.dispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

/** The result of a successful build; its download is unpacked in `dir`. */
export function guestBuildOf({ claim, finished, failure, log, artifacts }: FakeBuild, dir: string): GuestBuild {
  expect(failure, log.slice(-3000)).toBeNull();
  if (finished === null) throw new Error("the build has neither succeeded nor failed");
  const file = join(dir, finished.fileName);
  writeFileSync(file, uploadedFile(artifacts.image));
  const downloaded = unpacked(file, { name: claim.input.imageName, rawSize: finished.rawSize });
  return { finished, words: [...log.matchAll(/\| Kiln: (.*)/g)].map(([, words = ""]) => words), downloaded };
}

async function partsOf(url: string, stateDir: string, allowHosts: string[]): Promise<BuildParts> {
  const config = testConfig(url, stateDir, { isolation: "vm", accel: "tcg", buildDiskGb: 2, allowHosts });
  return {
    api: connectWorker(config),
    config,
    cache: await openImageCache(join(stateDir, "cache"), 0),
    prepared: await openPrepared(config),
    builder: "test",
    log: silent,
  };
}
