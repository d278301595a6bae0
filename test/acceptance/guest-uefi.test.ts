import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { guestOfBuild } from "../../builder-agent/src/guest/means.ts";
import { temporaryDir, testConfig } from "../../builder-agent/test/support/agent-place.ts";
import { driveOf } from "./support/boot.ts";
import { login } from "./support/image-types.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";
import { startedBy } from "./support/uefi.ts";

// A disk for both firmwares, made in a guest: this host's kernel need not know the EFI system partition's file system.

const biosPartition = "21686148-6449-6E6F-744E-656564454649"; // UEFI specification 2.10, §5.3.3, and GRUB's manual
const systemPartition = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B";

interface PartitionTable {
  label: string;
  partitions: { start: number; type: string }[];
}

const tableOf = (disk: string): PartitionTable =>
  JSON.parse(execFileSync("sfdisk", ["--json", disk], { encoding: "utf8" })).partitiontable;

it("an appliance with the EFI boot loader boots by UEFI and by BIOS", { timeout: 900_000 }, async () => {
  const distribution = sampleDistribution();
  await using state = await temporaryDir();
  using server = await serveDistribution(distribution);
  const config = testConfig(server.url, state.path, { isolation: "vm", accel: "tcg", buildDiskGb: 2 });
  const input = await resolvedTiny(distribution, { requests: ["hello", "grub2-x86_64-efi"] });
  expect(input.firmware).toBe("efi");
  await using guest = await guestOfBuild(config, 6000);

  await buildHere(input, { stateDir: state.path, url: server.url, guest }, async ({ image }) => {
    const { label, partitions } = tableOf(image);
    expect(label).toBe("gpt");
    expect(partitions.map(({ type }) => type)).toEqual([biosPartition, systemPartition, expect.any(String)]);
    const files = `${image}@@${(partitions[1]?.start ?? 0) * 512}`;
    expect(execFileSync("mdir", ["-b", "-i", files, "::/EFI/BOOT"], { encoding: "utf8" })).toMatch(/bootx64\.efi/i);

    for (const which of ["BIOS", "UEFI"] as const) {
      const { printed, byUefi } = await startedBy(which, driveOf(image));
      expect(printed).toMatch(login);
      expect(byUefi).toBe(which === "UEFI");
    }
  });
});
