import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convertDisk } from "../../src/run/machine.ts";
import { diskPath, imageFormats, imageTypes, type Container, type ImageType } from "../../src/contract.ts";
import { HostileArchive } from "../../src/testdrive/container.ts";
import { unpackDisk } from "../../src/testdrive/unpack.ts";
import { temporaryDir } from "../support/agent-place.ts";

const mebi = 1024 * 1024;
const signal = new AbortController().signal;

function diskOf(text: string): Buffer {
  const disk = Buffer.alloc(4 * mebi);
  disk.write(text);
  disk.write("55aa", 510, "hex");
  disk.write("last", disk.length - 4);
  return disk;
}

function containerOf(type: ImageType): Container {
  const { container } = imageFormats[type];
  if (!container) throw new Error(`${type} is no disk`);
  return container;
}

/** Converts a disk with this text to a file in this container. */
async function convert(dir: string, text: string, { container, to }: { container: Container; to: string }) {
  const raw = join(dir, `${text}.raw`);
  writeFileSync(raw, diskOf(text));
  const { conversion } = container;
  if (!conversion) throw new Error("it is the raw disk itself");
  await convertDisk(raw, { conversion, to, signal });
}

type Change = (file: string, dir: string) => void;

/** The archive of a build of this type, after `change` to its disk. */
async function packed(dir: string, type: ImageType, change: Change = () => {}): Promise<string> {
  const name = `Kiosk.x86_64-0.0.1.${type}`;
  const container = containerOf(type);
  const { alone } = imageFormats[type];
  const to = join(dir, diskPath(name, container, alone));
  mkdirSync(join(dir, name));
  await convert(dir, "first", { container, to });
  change(to, dir);
  writeFileSync(join(dir, name, `${name}.vmx`), "");
  const archive = join(dir, "image");
  // Sparse, as in the agent's archives: the disk of a gce is 1 GiB.
  const how = imageFormats[type].plainTar === undefined ? ["--sparse", "-czf"] : ["-cf"];
  execFileSync("tar", [...how, archive, "-C", dir, alone ?? name]);
  return archive;
}

const unpack = (archive: string, into: string, type: ImageType) =>
  unpackDisk(archive, into, {
    rawSize: 4 * mebi,
    container: containerOf(type),
    alone: imageFormats[type].alone,
    isPlain: imageFormats[type].plainTar !== undefined,
    signal,
  });

const converted = imageTypes.filter((type) => imageFormats[type].container?.conversion !== undefined);

const overwrite =
  (at: number, hex: string): Change =>
  (file) => {
    const bytes = readFileSync(file);
    bytes.write(hex, at, "hex");
    writeFileSync(file, bytes);
  };

const image = (...args: string[]) => execFileSync("qemu-img", args);

/** Image types whose disk formats can refer to a parent. */
const parented = converted.filter((type) =>
  ["vmdk", "qcow2"].includes(imageFormats[type].container?.conversion?.driver ?? ""),
);

describe("the disk of an archive", () => {
  it.each(converted)("of the type %s becomes the raw disk that it was made from", async (type) => {
    await using dir = await temporaryDir();
    await unpack(await packed(dir.path, type), join(dir.path, "out"), type);
    expect(readFileSync(join(dir.path, "out")).equals(diskOf("first"))).toBe(true);
  });

  it.each(converted)("of the type %s is refused if it is shorter than its head", async (type) => {
    await using dir = await temporaryDir();
    const archive = await packed(dir.path, type, (file) => execFileSync("truncate", ["--size=16", file]));
    await expect(unpack(archive, join(dir.path, "out"), type)).rejects.toThrow(HostileArchive);
  });

  it.each(converted)("of the type %s is refused if it is larger than announced", async (type) => {
    await using dir = await temporaryDir();
    const { driver = "", options = [] } = containerOf(type).conversion ?? {};
    const how = options.flatMap((option) => ["-o", option]);
    const archive = await packed(dir.path, type, (file) => image("create", "-q", "-f", driver, ...how, file, "8M"));
    await expect(unpack(archive, join(dir.path, "out"), type)).rejects.toThrow(HostileArchive);
  });

  it.each(parented)("of the type %s never shows the disk of a parent", async (type) => {
    await using dir = await temporaryDir();
    const container = containerOf(type);
    const { driver = "" } = container.conversion ?? {};
    const secret = join(dir.path, "secret");
    await convert(dir.path, "secret", { container, to: secret });
    execFileSync("chmod", ["755", dir.path]);
    const archive = await packed(dir.path, type, (file) =>
      image("create", "-q", "-f", driver, "-F", driver, "-b", secret, file),
    );
    const out = join(dir.path, "out");
    const refusal = await unpack(archive, out, type).catch((error: unknown) => error);
    if (refusal !== undefined) expect(refusal).toBeInstanceOf(HostileArchive);
    else expect(readFileSync(out).equals(Buffer.alloc(4 * mebi))).toBe(true);
  });

  it.each<[ImageType, string, Change, RegExp]>([
    [
      "vmx",
      "is a list of other files",
      (file) =>
        writeFileSync(
          file,
          '# Disk DescriptorFile\nversion=1\ncreateType="monolithicFlat"\nRW 8192 FLAT "/etc/passwd" 0\n',
        ),
      /not a vmdk of one file/,
    ],
    ["qcow2", "names a parent", overwrite(8, "0000000000000100"), /not a qcow2 of one file/],
    ["qcow2", "has its data in another file", overwrite(72, "0000000000000004"), /not a qcow2 of one file/],
    ["qcow2", "is encrypted", overwrite(32, "00000001"), /not a qcow2 of one file/],
    ["vmx", "is cut off", (file) => execFileSync("truncate", ["--size=65000", file]), /cannot be converted/],
    ["vmx", "leaves its size to a list of other files", overwrite(12, "00".repeat(8)), /has 0 bytes/],
  ])("of the type %s is refused if it %s", async (type, _, change, why) => {
    await using dir = await temporaryDir();
    const refused = unpack(await packed(dir.path, type, change), join(dir.path, "out"), type);
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toThrow(HostileArchive);
  });
});
