import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImageType } from "../../builder-agent/src/contract.ts";
import { driveOf } from "./support/boot.ts";
import { fromDisk, fromRoot, guestBuilds, type GuestBuild } from "./support/guest-builds.ts";
import { expectShape, login, serialOfInstallation } from "./support/image-types.ts";
import { startedBy } from "./support/uefi.ts";

// Builds one version in types of every kind, with the EFI boot loader. The root leaves the first guest as an archive
// and enters the next. The disk is made once for all containers. Each type includes the packages that installations
// need, so that all have the same root. The host needs neither the boot loader nor a kernel with the EFI system
// partition's file system.

const requests = ["hello", "syslinux", "dracut-kiwi-oem-dump", "dracut-kiwi-oem-repart", "grub2-x86_64-efi"];
const biosPartition = "21686148-6449-6E6F-744E-656564454649"; // UEFI specification 2.10, §5.3.3, and GRUB's manual
const systemPartition = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B";

interface PartitionTable {
  label: string;
  partitions: { start: number; type: string }[];
}

const tableOf = (disk: string): PartitionTable =>
  JSON.parse(execFileSync("sfdisk", ["--json", disk], { encoding: "utf8" })).partitiontable;

let builds: Awaited<ReturnType<typeof guestBuilds>>;
let first: GuestBuild;
/** The raw disk. */
let disk: string;

beforeAll(async () => void (builds = await guestBuilds()));
afterAll(() => builds[Symbol.asyncDispose]());

const build = (imageType: ImageType) => builds.build({ imageType, requests });

describe("one version built in guests", () => {
  it("builds vmx from nothing", async () => {
    first = await build("vmx");
    expectShape("vmx", first.downloaded);
    expect(first.words).toContain("Installing software");
    expect(first.words).not.toContain(fromRoot);
    expect(readdirSync(join(builds.stateDir, "prepared/roots"))).toHaveLength(1);
    expect(readdirSync(join(builds.stateDir, "prepared/disks"))).toHaveLength(1);
  });

  it.each(["xen", "ec2"] as const)("makes %s from the disk of vmx, in another container", async (imageType) => {
    const { downloaded, words, finished } = await build(imageType);
    expectShape(imageType, downloaded);
    expect(words).toContain(fromDisk);
    expect(words).not.toContain("Creating the image");
    expect(finished.installed).toEqual(first.finished.installed);
    disk = join(downloaded.folder, `${downloaded.name}.raw`);
  });

  it("makes a disk that boots by UEFI and by BIOS", async () => {
    const { label, partitions } = tableOf(disk);
    expect(label).toBe("gpt");
    expect(partitions.map(({ type }) => type)).toEqual([biosPartition, systemPartition, expect.any(String)]);
    const files = `${disk}@@${(partitions[1]?.start ?? 0) * 512}`;
    expect(execFileSync("mdir", ["-b", "-i", files, "::/EFI/BOOT"], { encoding: "utf8" })).toMatch(/bootx64\.efi/i);

    for (const which of ["BIOS", "UEFI"] as const) {
      const { printed, byUefi } = await startedBy(which, driveOf(disk));
      expect(printed).toMatch(login);
      expect(byUefi).toBe(which === "UEFI");
    }
  });

  it("makes oemiso from vmx's root, and it installs itself", async () => {
    const { downloaded, words, finished } = await build("oemiso");
    expectShape("oemiso", downloaded);
    expect(words).toEqual(expect.arrayContaining([fromRoot, "Creating the image"]));
    expect(words).not.toContain("Installing software");
    expect(finished.installed).toEqual(first.finished.installed);
    const printed = await serialOfInstallation(downloaded);
    expect(printed).toContain("INSTALL-DONE");
    expect(printed).toMatch(login);
  });
});
