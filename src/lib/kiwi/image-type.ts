// Not the contract's index, because the command line imports this file and would then include all of zod.
import { architectures, arches } from "#lib/contract/architectures";
import { fileSystemFacts, type FileSystem } from "#lib/contract/file-systems";
import { imageFormats, imageTypes } from "#lib/contract/image-formats";
import type { Configuration } from "#lib/configuration/stored";
import type { Arch, Firmware, ImageType, Product } from "#lib/contract/index";
import { encryptedDisk, opensItself } from "#lib/kiwi/disk-encryption";
import {
  fileSystemAttributes,
  fileSystemOf,
  hasUsualSubvolumes,
  readFileSystem,
  subvolumesElement,
} from "#lib/kiwi/file-system";
import type { ImportedConfiguration, Omission } from "#lib/kiwi/import/imported";
import { partitionsIn } from "#lib/kiwi/partitions";
import { unifiedKernelPartitionMb } from "#lib/kiwi/unified-kernel";
import { isAboutSwap, readSwapPartition, swapElements } from "#lib/kiwi/swap-partition";
import { volumesIn } from "#lib/kiwi/volumes";
import type { XmlNode } from "#lib/wire/read-xml";
import { marked, type XmlMarked } from "#lib/wire/xml";

// The screen of a testdrive, and the serial line of a server.
const consolesOf = (arch: Arch) => `console=tty0 console=${architectures[arch].serial},115200`;
/** A disk is mounted read-write. */
const readWrite = "rw";
/** A failure in the initial archive must not give anyone a shell, and with it the disk's key. */
const noRescue = "rd.shell=0";

/** The arguments of the appliance come last, so that they win. */
const commandLine = ({ arch, settings: { kernelArguments } }: TypeFacts, ...own: string[]): string =>
  [consolesOf(arch), ...own, kernelArguments].filter((text) => text !== "").join(" ");

const bootloader = marked({ name: "grub2", timeout: "1" }, {});

/** How a live medium finds its root: by a module of KIWI, or by the one that dracut has itself. */
export type LiveModule = "overlay" | "dmsquash";

type TypeSettings = "diskSizeMb" | "kernelArguments" | "diskEncryption" | "fileSystem" | "swapIn" | "swapSizeMb";

export interface TypeFacts {
  arch: Arch;
  firmware: Firmware;
  hasUnifiedKernel: boolean;
  liveModule: LiveModule;
  settings: Pick<Configuration["settings"], TypeSettings>;
}

interface ElementFacts extends TypeFacts {
  /** The file system of the root on a disk. */
  fileSystem: FileSystem;
}

/**
 * KIWI's `<type>` for an image type. Every disk of a PC boots with BIOS, which QEMU, VMware, Xen (HVM) and EC2 all
 * support: KIWI's `efi` gives it a partition for each firmware, and a medium GRUB for both. The agent converts the raw
 * disk to the format of the image type.
 */
export const imageTypeElement = (imageType: ImageType, facts: TypeFacts): XmlMarked =>
  elements[imageFormats[imageType].product]({ ...facts, fileSystem: fileSystemOf({ imageType, ...facts }) });

// xz would take most of a build's time and save only a tenth of the size.
const squashfs = { squashfscompression: "zstd" };

// Without it, dracut's own module stores changes in a sparse file of 32 GiB in memory.
const ownArguments: Readonly<Record<LiveModule, string>> = { overlay: "", dmsquash: "rd.live.overlay.overlayfs=1" };

const liveMedium = (facts: TypeFacts) => {
  const { firmware, liveModule: flags } = facts;
  const kernelcmdline = commandLine(facts, ownArguments[flags]);
  return marked({ image: "iso", flags, firmware, volid: "CDROM", ...squashfs, kernelcmdline }, { bootloader });
};

const netTree = (facts: TypeFacts) =>
  marked({ image: "kis", filesystem: "squashfs", ...squashfs, kernelcmdline: commandLine(facts) }, {});

const diskAttributes = (facts: ElementFacts, ...own: string[]) => ({
  image: "oem",
  ...fileSystemAttributes(facts.fileSystem),
  firmware: facts.firmware,
  ...(facts.hasUnifiedKernel && { efipartsize: String(unifiedKernelPartitionMb) }),
  bootpartition: "false",
  kernelcmdline: commandLine(facts, readWrite, ...own),
});

const sizeOf = ({ diskSizeMb }: TypeFacts["settings"]) => marked({ unit: "M" }, String(diskSizeMb));

const disk = (facts: ElementFacts) => {
  const { diskEncryption } = facts.settings;
  const own = opensItself(diskEncryption) ? [noRescue] : [];
  return marked(
    { ...diskAttributes(facts, ...own), ...(diskEncryption !== "none" && encryptedDisk) },
    {
      bootloader,
      size: sizeOf(facts.settings),
      oemconfig: { "oem-resize": false, ...swapElements(facts.settings) },
      ...subvolumesElement(facts.fileSystem),
    },
  );
};

/** The first menu entry installs without questions, because booting the medium counts as consent. */
const installMedium = (facts: ElementFacts) =>
  marked(
    { ...diskAttributes(facts), installiso: "true", installboot: "install", ...squashfs },
    {
      bootloader,
      size: sizeOf(facts.settings),
      oemconfig: { "oem-resize": false, "oem-unattended": true, ...swapElements(facts.settings) },
    },
  );

/** This is also the root of a container image. KIWI's own types for these would copy the root once more. */
const rootArchive = () => marked({ image: "tbz" }, {});

const elements: Readonly<Record<Product, (facts: ElementFacts) => XmlMarked>> = {
  disk,
  live: liveMedium,
  installer: installMedium,
  network: netTree,
  container: rootArchive,
};

/** The facts about an appliance in a description's `<type>`. */
export interface TypeRead {
  type?: ImageType;
  settings: NonNullable<ImportedConfiguration["settings"]>;
  lvm?: ImportedConfiguration["lvm"];
  omitted: Omission[];
}

/** Reads a `<type>` by any author. Only the first one that is an appliance format counts. */
export function readImageType(node: XmlNode, to: TypeRead): void {
  const { attributes, children } = node;
  const omit = (why: string, what: string) => to.omitted.push({ what: `preferences/${what}`, why });
  const image = attributes.get("image") ?? node.text;
  const type = imageTypeOf(image, node);
  if (type === undefined) return void omit(`${image} is not a format of appliances`, `type image="${image}"`);
  if (to.type !== undefined) {
    const instead = `an appliance has one default type: build this one with \`kiln build --type ${type}\``;
    return void omit(instead, `type image="${image}"`);
  }
  to.type = type;
  const format = attributes.get("format") ?? "raw";
  if (type === "oem" && format !== "raw")
    omit("the service has no such format, so the image is a raw disk", `type/format="${format}"`);
  const kernelArguments = attributes.get("kernelcmdline");
  if (kernelArguments !== undefined) to.settings["kernel_arguments"] = withoutOurs(kernelArguments);
  const fileSystem = readFileSystem(type, attributes);
  if (fileSystem !== undefined) to.settings["file_system"] = fileSystem;
  const read = fileSystem === undefined ? readAttributes : new Set([...readAttributes, ...ofFileSystem]);
  for (const [name] of attributes)
    if (!read.has(name)) omit(lostBecause.get(name) ?? "the service decides it", `type/${name}`);
  for (const child of children) {
    if (child.name === "size") readSize(child, to, omit);
    else if (child.name === "systemdisk") readSystemDisk(node, child, to, omit);
    else if (child.name === "partitions" && to.lvm === undefined)
      to.lvm = partitionsIn(child, attributes.get("filesystem"), omit);
    else if (child.name === "oemconfig") readOemConfig(child, to, omit);
    else omit("the service decides it", `type/${child.name}`);
  }
}

function readSystemDisk(type: XmlNode, disk: XmlNode, to: TypeRead, omit: Omit): void {
  if (!hasSubvolumes(type, disk)) to.lvm = volumesIn(disk, omit);
  else if (!hasUsualSubvolumes(disk, "btrfs")) omit(`a root of btrfs has ${usualSubvolumes}`, "type/systemdisk");
}

function readOemConfig({ children }: XmlNode, to: TypeRead, omit: Omit): void {
  Object.assign(to.settings, readSwapPartition(children));
  for (const child of children) if (!isAboutSwap(child)) omit("the service decides it", `type/oemconfig/${child.name}`);
}

const hasSubvolumes = (type: XmlNode, disk: XmlNode): boolean =>
  type.attributes.get("filesystem") === "btrfs" && disk.attributes.get("preferlvm") !== "true";

const usualSubvolumes = `the subvolumes ${fileSystemFacts.btrfs.subvolumes?.join(" and ")}`;

const readAttributes = new Set(["image", "format", "installiso", "primary", "kernelcmdline"]);
/** The losses that the user must know about before the first build. */
const lostBecause = new Map([
  ["luks", "the disk is not encrypted: set disk_encryption, which keeps no passphrase in the image"],
]);
const ofFileSystem = ["filesystem", "fscreateoptions"];

/** The kernel arguments without those that Kiln gives every image. */
function withoutOurs(kernelArguments: string): string {
  const ours = [
    ...arches.flatMap((arch) => consolesOf(arch).split(" ")),
    readWrite,
    noRescue,
    ...Object.values(ownArguments),
  ];
  return kernelArguments
    .split(/\s+/)
    .filter((word) => !ours.includes(word))
    .join(" ");
}

function imageTypeOf(image: string, { attributes, children }: XmlNode): ImageType | undefined {
  const format = attributes.get("format") ?? "";
  if (image === "vmx" || image === "oem") {
    if (attributes.get("installiso") === "true") return "oemiso";
    if (format === "ova") return "ova";
    if (format === "vagrant") return boxOf(children);
    if (image === "vmx") return "vmx";
    return imageTypes.find((type) => imageFormats[type].container?.suffix === format) ?? "oem";
  }
  return ofKiwi[image];
}

/** KIWI has one format for boxes; a child element names the program that starts them. */
function boxOf(children: readonly XmlNode[]): ImageType {
  const provider = children.find(({ name }) => name === "vagrantconfig")?.attributes.get("provider");
  return provider === "virtualbox" ? "vagrant_virtualbox" : "vagrant_libvirt";
}

const ofKiwi: Readonly<Record<string, ImageType>> = {
  iso: "iso",
  kis: "net",
  pxe: "net",
  docker: "oci",
  oci: "oci",
  tbz: "oci",
  appx: "wsl",
  wsl: "wsl",
};

type Omit = (why: string, what: string) => void;

function readSize({ text, attributes }: XmlNode, to: TypeRead, omit: Omit): void {
  const megabytes = Number(text) * (attributes.get("unit") === "G" ? 1024 : 1);
  if (attributes.get("additive") === "true")
    return omit("an appliance has the size of its disk, not the free space on it", "type/size");
  if (Number.isSafeInteger(megabytes) && megabytes > 0) to.settings["disk_size"] = Math.ceil(megabytes / 1024);
  else omit(`${text} is not a size`, "type/size");
}
