import { expect, it } from "vitest";
import { temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { driveOf } from "./support/boot.ts";
import { login } from "./support/image-types.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";
import { startedBy } from "./support/uefi.ts";

it("a live medium with the EFI boot loader boots by UEFI and by BIOS", { timeout: 600_000 }, async () => {
  const distribution = sampleDistribution();
  await using state = await temporaryDir();
  using server = await serveDistribution(distribution);
  const input = await resolvedTiny(distribution, { imageType: "iso", requests: ["hello", "grub2-x86_64-efi"] });
  expect(input.firmware).toBe("efi");

  await buildHere(input, { stateDir: state.path, url: server.url }, async ({ image }) => {
    const drive = driveOf(image, { device: "ide-cd", isReadOnly: true });
    for (const which of ["BIOS", "UEFI"] as const) {
      const { printed, byUefi } = await startedBy(which, drive);
      expect(printed).toMatch(login);
      expect(byUefi).toBe(which === "UEFI");
    }
  });
});
