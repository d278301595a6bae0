import { execFileSync } from "node:child_process";
import { openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImageBuild } from "../../builder-agent/src/build/image.ts";
import { packImage } from "../../builder-agent/src/build/pack.ts";
import type { FrozenInput, Phase } from "../../builder-agent/src/contract.ts";
import { mountsBelow } from "../../builder-agent/src/leftovers.ts";
import { temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { differenceOf } from "../../builder-agent/src/build/difference.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// The agent's own code runs the real KIWI on the sample distribution; there is no Worker but a server of its files.

const distribution = sampleDistribution();
const silent = () => {};
let files: Awaited<ReturnType<typeof serveDistribution>>;

beforeAll(async () => {
  files = await serveDistribution(distribution);
});
afterAll(() => files[Symbol.dispose]());

const build = <T>(stateDir: string, input: FrozenInput, more: Partial<ImageBuild>, use: Use<T>): Promise<T> =>
  buildHere(input, { stateDir, url: files.url, ...more }, use);

type Use<T> = Parameters<typeof buildHere<T>>[2];

function bytesAt(file: string, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(openSync(file, "r"), bytes, { position });
  return bytes;
}

const loopFiles = () =>
  execFileSync("losetup", ["--list", "--noheadings", "--output", "BACK-FILE"], { encoding: "utf8" });

describe("a KIWI run by the agent", () => {
  it("makes a bootable disk with the package inside, and packs it as NAME/NAME.raw", async () => {
    await using state = await temporaryDir();
    const phases: Phase[] = [];
    const lines: string[] = [];

    const options = {
      onPhase: (phase: Phase) => void phases.push(phase),
      onLine: (line: string) => void lines.push(line),
    };
    const input = await resolvedTiny(distribution);
    await build(state.path, input, options, async (built, workDir) => {
      expect(differenceOf(input.packages, built.installed)).toBeUndefined();
      const hello = { name: "hello", version: "1.1", release: "1", arch: "noarch", license: "MIT" };
      expect(built.installed).toContainEqual(hello);
      expect(built.rawSize).toBe(512 * 1024 * 1024);
      expect(bytesAt(built.image, 510, 2).toString("hex")).toBe("55aa");
      expect(execFileSync("7z", ["l", built.image], { encoding: "utf8" })).toContain("usr/bin/hello");

      const packed = await packImage(built, "Kiosk.x86_64-0.0.1.oem", {
        workDir,
        signal: new AbortController().signal,
      });
      const names = execFileSync("tar", ["-tzf", packed.path], { encoding: "utf8" }).trim().split("\n");
      expect(names).toEqual(["Kiosk.x86_64-0.0.1.oem/", "Kiosk.x86_64-0.0.1.oem/Kiosk.x86_64-0.0.1.oem.raw"]);
      expect(packed.digests.size).toBeLessThan(built.rawSize / 2);
      expect(execFileSync("sha256sum", [packed.path], { encoding: "utf8" })).toContain(packed.digests.sha256);
    });

    expect(phases).toEqual(["Preparing the build", "Creating the image"]);
    expect(lines.some((line) => /\( *\d+\/\d+\) Installing: hello-/.test(line))).toBe(true);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
  });

  it("makes a bootable medium", async () => {
    await using state = await temporaryDir();

    const input = await resolvedTiny(distribution, { imageType: "iso" });
    await build(state.path, input, {}, (built) => {
      expect(differenceOf(input.packages, built.installed)).toBeUndefined();
      expect(built.format).toBe("iso");
      expect(bytesAt(built.image, 0x8001, 5).toString()).toBe("CD001");
      expect(built.installed.map((each) => each.name)).toContain("hello");
    });
  });

  it.each([
    ["of one version", "hello = 1.0-1", "1.0"],
    ["of one repository", "hello from main", "1.0"],
    ["of the repository that goes first", "hello", "1.1"],
  ])("installs a package %s", async (_, request, version) => {
    await using state = await temporaryDir();
    const input = await resolvedTiny(distribution, { requests: [request] });

    await build(state.path, input, {}, (built) => {
      expect(differenceOf(input.packages, built.installed)).toBeUndefined();
      expect(built.installed.find((each) => each.name === "hello")?.version).toBe(version);
    });
  });

  it("says why packages that do not fit together cannot be installed", async () => {
    await using state = await temporaryDir();
    const input = await resolvedTiny(distribution);
    const packages = input.packages.filter(({ name }) => name !== "libgreet");

    const failed = build(state.path, { ...input, packages }, {}, silent);

    await expect(failed).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/No provider of 'libgreet=1\.1-1' found/),
    });
  });

  it.each([
    ["while packages are installed", /Installing: kernel-default/],
    ["while the disk is attached to a loop device", /Syncing system to image/],
  ])("leaves no process, mount or loop device when it is stopped %s", async (_, moment) => {
    await using state = await temporaryDir();
    const stop = new AbortController();
    const onLine = (line: string) => void (moment.test(line) && stop.abort(new Error("stopped")));

    const input = await resolvedTiny(distribution);
    const stopped = build(state.path, input, { signal: stop.signal, onLine }, silent);
    await expect(stopped).rejects.toThrow("stopped");

    expect(await mountsBelow(state.path)).toEqual([]);
    expect(loopFiles()).not.toContain(state.path);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
    // The next build gets the same loop device, and finds no old partitions on it.
    await build(state.path, input, {}, (built) => expect(built.rawSize).toBeGreaterThan(0));
  });
});
