import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BuiltImage } from "../../builder-agent/src/build/image.ts";
import type { ImageType } from "../../builder-agent/src/contract.ts";
import { guestOfBuild } from "../../builder-agent/src/guest/means.ts";
import { preparedKey } from "../../builder-agent/src/prepared/key.ts";
import { RootShare } from "../../builder-agent/src/prepared/share.ts";
import { openPreparedRoots } from "../../builder-agent/src/prepared/store.ts";
import { silent, temporaryDir, testConfig } from "../../builder-agent/test/support/agent-place.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// A root that goes out of one guest as an archive and into the next; and a network tree out of a guest.

describe("two formats in guests", () => {
  it("are made from one prepared root", { timeout: 1_500_000 }, async () => {
    const distribution = sampleDistribution();
    await using state = await temporaryDir();
    using server = await serveDistribution(distribution);
    const roots = await openPreparedRoots(join(state.path, "prepared"), { maxBytes: 1e9, maxAgeMs: 1e9 });
    const config = testConfig(server.url, state.path, { isolation: "vm", accel: "tcg", buildDiskGb: 2 });
    let buildId = 5000;

    const build = async (imageType: ImageType, see: (built: BuiltImage, log: string) => void) => {
      const input = await resolvedTiny(distribution, { imageType, requests: ["hello", "dracut-kiwi-live"] });
      const workDir = join(state.path, imageType);
      mkdirSync(workDir);
      const signal = new AbortController().signal;
      const key = preparedKey(input, { builder: "test", isolation: "vm" });
      using share = await RootShare.join({ roots, key, workDir, signal, onNote: silent });
      await using guest = await guestOfBuild(config, ++buildId);
      const lines: string[] = [];
      const onLine = (line: string) => void lines.push(line);
      const options = { stateDir: state.path, url: server.url, share, guest, onLine };
      await buildHere(input, options, (built) => see(built, lines.join("\n")));
    };

    let installed: unknown;
    await build("oem", (built, log) => {
      installed = built.installed;
      expect(log).toContain("Installing bootstrap packages");
    });
    expect(readdirSync(join(state.path, "prepared"))).toHaveLength(1);
    await build("net", (built, log) => {
      expect(built.installed).toEqual(installed);
      expect(built.format).toBe("net");
      expect(log).not.toContain("Installing bootstrap packages");
      expect(log).toContain("Creating system image");
    });
  });
});
