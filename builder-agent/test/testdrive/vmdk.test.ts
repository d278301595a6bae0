import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convertDisk } from "../../src/build/machine.ts";
import { HostileArchive } from "../../src/testdrive/vmdk.ts";
import { unpackDisk } from "../../src/testdrive/unpack.ts";
import { temporaryDir } from "../support/agent-place.ts";

const mebi = 1024 * 1024;
const signal = new AbortController().signal;

function diskOf(text: string): Buffer {
  const disk = Buffer.alloc(4 * mebi);
  disk.write(text);
  disk.write("last", disk.length - 4);
  return disk;
}

/** A folder as a vmx build packs it, after `change` to its VMDK. */
async function packed(dir: string, change: (vmdk: string) => void = () => {}): Promise<string> {
  const [raw, vmdk] = [join(dir, "disk.raw"), join(dir, "Kiosk.vmdk")];
  writeFileSync(raw, diskOf("first"));
  await convertDisk(raw, { container: "vmdk", to: vmdk, signal });
  change(vmdk);
  writeFileSync(join(dir, "Kiosk.vmx"), "");
  const archive = join(dir, "image.tar.gz");
  execFileSync("tar", ["-czf", archive, "-C", dir, "--transform=s,^,Kiosk/,", "Kiosk.vmdk", "Kiosk.vmx"]);
  return archive;
}

const unpack = (archive: string, into: string) =>
  unpackDisk(archive, into, { rawSize: 4 * mebi, format: "vmdk", signal });

describe("the VMDK of an archive", () => {
  it("becomes the raw disk that it was made from", async () => {
    await using dir = await temporaryDir();
    await unpack(await packed(dir.path), join(dir.path, "out"));
    expect(readFileSync(join(dir.path, "out")).equals(diskOf("first"))).toBe(true);
  });

  it("never reads a parent that it names", async () => {
    await using dir = await temporaryDir();
    const secret = join(dir.path, "secret.vmdk");
    writeFileSync(join(dir.path, "secret.raw"), diskOf("secret"));
    await convertDisk(join(dir.path, "secret.raw"), { container: "vmdk", to: secret, signal });
    execFileSync("chmod", ["755", dir.path]);
    const archive = await packed(dir.path, (vmdk) => {
      execFileSync("qemu-img", ["create", "-q", "-f", "vmdk", "-F", "vmdk", "-b", secret, vmdk]);
    });
    await unpack(archive, join(dir.path, "out"));
    expect(readFileSync(join(dir.path, "out")).equals(Buffer.alloc(4 * mebi))).toBe(true);
  });

  it.each<[string, (vmdk: string) => void, RegExp]>([
    [
      "is a list of other files",
      (vmdk) =>
        writeFileSync(
          vmdk,
          '# Disk DescriptorFile\nversion=1\ncreateType="monolithicFlat"\nRW 8192 FLAT "/etc/passwd" 0\n',
        ),
      /not a VMDK of one file/,
    ],
    [
      "leaves its size to a list of other files",
      (vmdk) => {
        const bytes = readFileSync(vmdk);
        bytes.writeBigUInt64LE(0n, 12);
        writeFileSync(vmdk, bytes);
      },
      /has 0 bytes/,
    ],
    [
      "is larger than announced",
      (vmdk) => execFileSync("qemu-img", ["create", "-q", "-f", "vmdk", vmdk, "8M"]),
      /8388608/,
    ],
    ["is cut off", (vmdk) => execFileSync("truncate", ["--size=65000", vmdk]), /cannot be converted/],
  ])("is refused if it %s", async (_, change, why) => {
    await using dir = await temporaryDir();
    const refused = unpack(await packed(dir.path, change), join(dir.path, "out"));
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toThrow(HostileArchive);
  });
});
