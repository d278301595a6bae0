import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleWorker } from "../../scripts/launch/bundle.ts";
import { makeNextRelease, nextTable } from "./support/next-release.ts";
import { type Release, ReleasedService } from "./support/released-service.ts";
import { until } from "./support/service.ts";

// For some minutes after a deploy, Workers and Durable Objects run two different releases. Both use the newer database,
// because a deploy migrates it first.

const folder = mkdtempSync(join(tmpdir(), "kiln-mixed-"));
let current: Release;
let next: ReturnType<typeof makeNextRelease>;

beforeAll(async () => {
  const bundle = await bundleWorker();
  next = makeNextRelease(bundle, folder);
  current = { bundle, migrationsFolder: next.migrationsFolder };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A build from its claim to its end, and a testdrive of its image until the picture arrives. */
async function buildAndWatch(service: ReleasedService): Promise<void> {
  const build = await service.startBuild();
  await service.finish(build);
  const viewer = await service.watch(await service.startTestdrive(build));
  await until("the machine shows something", 60, async () => (await viewer.frame()).colours > 1);
  viewer.close();
  // Also shows calls that the object does not have. Some of them fail without stopping the build.
  expect(service.errors()).toEqual([]);
}

/** For each object of this class, whether the next release has opened it. */
const openedByNext = (service: ReleasedService, name: string) =>
  service.tablesOf(name).map((tables) => tables.includes(nextTable));

describe("a build and a testdrive", () => {
  it("go through the next Worker and objects of this release", async () => {
    await using service = await ReleasedService.start({ ...next, objects: current });
    await buildAndWatch(service);
    expect(openedByNext(service, "kiln-Build")).toEqual([false]);
    expect(openedByNext(service, "kiln-Mailbox")).toEqual([false]);
  });

  it("go through this Worker and objects of the next release", async () => {
    await using service = await ReleasedService.start({ ...current, objects: next });
    await buildAndWatch(service);
    expect(openedByNext(service, "kiln-Build")).toEqual([true]);
    expect(openedByNext(service, "kiln-Mailbox")).toEqual([true]);
  });
});
