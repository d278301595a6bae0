import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { differenceOf } from "../../builder-agent/src/run/difference.ts";
import { temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { driveOf } from "./support/boot.ts";
import { login } from "./support/image-types.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";
import { startedBy } from "./support/uefi.ts";

it("boots a live medium with the EFI boot loader, by either firmware", async () => {
  const distribution = sampleDistribution();
  await using state = await temporaryDir();
  using server = await serveDistribution(distribution);
  // Also has a package from one repository, although a repository with better priority has a newer version.
  const requests = ["hello from main", "grub2-x86_64-efi"];
  const input = await resolvedTiny(distribution, { imageType: "iso", requests });
  expect(input.firmware).toBe("efi");

  await buildHere(input, { stateDir: state.path, url: server.url }, async ({ image, format, installed }) => {
    expect(differenceOf(input.packages, installed)).toBeUndefined();
    expect(installed.find(({ name }) => name === "hello")?.version).toBe("1.0");
    expect(format).toBe("iso");
    expect(volumeDescriptorOf(image)).toBe("CD001");
    const drive = driveOf(image, { device: "ide-cd", isReadOnly: true });
    for (const which of ["BIOS", "UEFI"] as const) {
      const { printed, byUefi } = await startedBy(which, drive);
      expect(printed).toMatch(login);
      expect(byUefi, printed).toBe(which === "UEFI");
    }
  });
});

const volumeDescriptorOf = (image: string): string =>
  execFileSync("dd", [`if=${image}`, "bs=1", "skip=32769", "count=5", "status=none"]).toString();
