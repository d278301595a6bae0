import { mkdir, rename, writeFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { diskPath, imageFormats, withSuffix, type Container, type ImageFormat } from "../contract.ts";
import { sha256OfFile } from "../file-hash.ts";
import type { CacheableImage } from "../image-cache.ts";
import { digestsOfFile } from "../upload/checksum.ts";
import { PartedFile } from "../upload/parted-file.ts";
import type { UploadFile } from "../upload/upload.ts";
import { compressFile, packFolder } from "./archive.ts";
import { writeDelta, type DeltaTarget, type DiskRead } from "./delta.ts";
import type { BuiltImage } from "./image.ts";
import { writeOciLayout } from "./oci.ts";
import type { KiwiResult, Product } from "./result.ts";
import { convertDisk, writeVmx, writeXlConfiguration, type DescribedMachine } from "./machine.ts";
import { writeOvf, ovf } from "./ovf.ts";

/** The downloadable file, and the image that a testdrive can start from. */
export interface PackedImage extends UploadFile {
  compressed: boolean;
  /** SHA-256 of the disk in the file. Undefined if there is none. */
  diskSha256?: string | undefined;
  /** The delta that makes the disk from that of the previous image. Undefined if no delta is made for this image. */
  delta?: UploadFile | undefined;
  /** Undefined if there is neither a disk nor a medium. */
  bootable?: CacheableImage | undefined;
}

export type Packable = KiwiResult & Pick<BuiltImage, "machine" | "sourceDate" | "seed">;

export interface Packing {
  workDir: string;
  signal: AbortSignal;
  /** Called when the file is created. Not called for a medium, which already exists. */
  onFile?: (file: PartedFile) => void;
  /** Undefined if no delta is wanted. */
  earlier?: DeltaTarget["earlier"] | undefined;
}

/**
 * A medium is not packed. Everything else becomes `NAME.tar.gz`: with a folder NAME, with a disk that is alone, or with
 * the contents of a container.
 */
export async function packImage(built: Packable, name: string, packing: Packing): Promise<PackedImage> {
  const { workDir, signal, onFile, earlier } = packing;
  if (built.format === "iso") return await nameMedium(built.image, name, signal);
  const dir = join(workDir, "pack");
  const { names, bootable, disk } = await fillFolder(built, { dir, name, signal });
  const { plainTar, machine, alone } = imageFormats[built.imageType];
  // A disk that is made from a delta has no other files with it, and needs a different name for each version.
  const isOnlyDisk = machine === undefined && alone === undefined;
  await using file = await PartedFile.create(workDir, plainTar ? withSuffix(name, plainTar) : `${name}.tar.gz`);
  onFile?.(file);
  const [packed, read] = await Promise.all([
    names
      ? packFolder({ dir, names, sourceDate: built.sourceDate, isPlain: plainTar !== undefined }, file, signal)
      : compressFile(built.image, file, signal),
    disk === undefined
      ? undefined
      : earlier && isOnlyDisk
        ? writeDelta(disk, { workDir, name, earlier, signal })
        : sha256OfFile(disk, signal).then((sha256): DiskRead => ({ sha256 })),
  ]);
  return { ...packed, compressed: true, diskSha256: read?.sha256, delta: read?.delta, bootable };
}

interface Folder {
  /** The directory that contains the contents of the archive. */
  dir: string;
  name: string;
  signal: AbortSignal;
}

interface Contents {
  /** The files and directories of the archive. Undefined if the image is already an archive. */
  names?: readonly string[];
  /** The current path of the disk. */
  bootable?: CacheableImage;
  /** The disk in the archive. */
  disk?: string;
}

async function fillFolder(built: Packable, folder: Folder): Promise<Contents> {
  const { dir, name, signal } = folder;
  const { alone, layout } = imageFormats[built.imageType];
  if (built.format === "tar") return layout === "oci" ? { names: await writeOciLayout(built, folder) } : {};
  await mkdir(join(dir, name), { recursive: true });
  if (built.format === "net") {
    await makePxeTree(built, join(dir, name), name);
    return { names: [name] };
  }
  const { machine, container } = imageFormats[built.imageType];
  if (!container) throw new Error(`there is no container for the disk of ${built.imageType}`);
  const disk = join(dir, diskPath(name, container, alone));
  const bootable = { path: await placeDisk(built, { container, disk, signal }), format: "raw" } as const;
  const facts = { dir: dirname(disk), name, disk, rawSize: built.rawSize, machine: built.machine };
  const described = machine ? await machineFiles[machine](facts) : [];
  return { names: alone === undefined ? [name] : [...described, alone], bootable, disk };
}

/** Moves or converts the raw disk. Returns where the raw disk is now. */
async function placeDisk(
  { image, seed }: Pick<Packable, "image" | "seed">,
  { container: { conversion }, disk, signal }: { container: Container; disk: string; signal: AbortSignal },
): Promise<string> {
  if (conversion) await convertDisk(image, { conversion, to: disk, seed, signal });
  else await rename(image, disk);
  return conversion ? image : disk;
}

const gibi = 1024 ** 3;

/** A box for the provider libvirt. Vagrant counts the disk in whole GiB. Returns the names of its files. */
const writeLibvirtBox = ({ dir, rawSize }: DescribedMachine): Promise<string[]> =>
  writeAll(dir, {
    "metadata.json": JSON.stringify({ provider: "libvirt", format: "qcow2", virtual_size: Math.ceil(rawSize / gibi) }),
    Vagrantfile: vagrantfile(),
  });

/**
 * A box for the provider VirtualBox, which imports `box.ovf` and gives the network card this address. Returns the names
 * of its files.
 */
const writeVirtualBoxBox = async (described: DescribedMachine): Promise<string[]> =>
  await writeAll(described.dir, {
    "metadata.json": JSON.stringify({ provider: "virtualbox" }),
    Vagrantfile: vagrantfile('  config.vm.base_mac = "0800274B696C"'),
    "box.ovf": ovf(described, (await stat(described.disk)).size),
  });

async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return Object.keys(files);
}

/** A shared folder would need programs in the image. */
const vagrantfile = (...lines: string[]): string =>
  [
    'Vagrant.configure("2") do |config|',
    ...lines,
    '  config.vm.synced_folder ".", "/vagrant", disabled: true',
    "end",
    "",
  ].join("\n");

/** The files that describe a virtual machine with the disk. Each writer returns their names. */
const machineFiles: Readonly<
  Record<NonNullable<ImageFormat["machine"]>, (machine: DescribedMachine) => Promise<string[]>>
> = {
  vmx: writeVmx,
  xl: writeXlConfiguration,
  ova: writeOvf,
  "libvirt box": writeLibvirtBox,
  "VirtualBox box": writeVirtualBoxBox,
};

/**
 * A system that boots from the network: kernel and initial RAM disk for TFTP, the root for HTTP, an example for
 * PXELINUX.
 */
async function makePxeTree(built: Extract<Product, { format: "net" }>, dir: string, name: string) {
  await mkdir(join(dir, "pxelinux.cfg"));
  await rename(built.kernel, join(dir, "linux"));
  await rename(built.initrd, join(dir, "initrd"));
  await rename(built.image, join(dir, `${name}.squashfs`));
  await writeFile(join(dir, "pxelinux.cfg", "default"), pxelinux(name));
}

/**
 * See dracut.cmdline(7), "Booting live images". dracut mounts a squashfs that is itself the root only below an overlay.
 */
const pxelinux = (name: string) => `# An example: replace SERVER by the web server that has ${name}.squashfs.
default ${name}
label ${name}
  kernel linux
  initrd initrd
  append root=live:http://SERVER/${name}.squashfs ip=dhcp rd.neednet=1 rd.live.overlay.overlayfs=1 console=tty0 console=ttyS0,115200
`;

async function nameMedium(path: string, name: string, signal: AbortSignal): Promise<PackedImage> {
  const digests = await digestsOfFile(path, signal);
  // <appliance>.<arch>-<version>.<image_type> ends with ".iso" if the type is `iso`.
  const fileName = withSuffix(name, "iso");
  return { path, fileName, digests, compressed: false, bootable: { path, format: "iso" } };
}
