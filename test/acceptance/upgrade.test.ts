import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundleWorker } from "../../scripts/launch/bundle.ts";
import { makeNextRelease } from "./support/next-release.ts";
import { ReleasedService } from "./support/released-service.ts";

// Simulates a deploy on one state directory: the Worker is replaced during a build and a testdrive. The agent keeps
// running.

const folder = mkdtempSync(join(tmpdir(), "kiln-next-"));
let current: Bundle;

beforeAll(async () => {
  current = await bundleWorker();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("an upgrade", () => {
  it("of the Worker in the middle of work loses nothing", async () => {
    await using service = await ReleasedService.start({ bundle: current });
    const first = await service.startBuild();
    await service.finish(first);
    const drive = await service.startTestdrive(first);
    const before = await (await service.watch(drive)).frame();
    const second = await service.startBuild();
    await service.agent.entered(second, "Installing software");

    await service.replace(makeNextRelease(current, folder));

    // A testdrive without a viewer ends after a minute.
    const viewer = await service.watch(drive);
    await service.finish(second);
    // The machine continued: it had begun to boot before, and its screen has changed since.
    expect((await viewer.frame()).digest).not.toBe(before.digest);
    viewer.close();
  });
});
