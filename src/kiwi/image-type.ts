import { kiwiTypes, type ImageType } from "#contract/index";
import { marked, type XmlMarked } from "#xml/write";

// Both consoles: the screen of the testdrive and the serial line of servers.
const consoles = "console=tty0 console=ttyS0,115200";
const bootloader = marked({ name: "grub2", timeout: "1" }, {});

/**
 * KIWI's `<type>` of an image type. Disks all boot by BIOS, which QEMU, VMware, Xen (HVM) and EC2 have; the agent puts
 * the raw disk into the container that users of the type expect.
 */
export function imageTypeElement(imageType: ImageType, { diskSizeMb }: { diskSizeMb: number }): XmlMarked {
  const kiwiType = kiwiTypes[imageType];
  if (kiwiType === "iso") return liveMedium;
  if (kiwiType === "kis") return netTree;
  return imageType === "oemiso" ? installMedium(diskSizeMb) : disk(diskSizeMb);
}

// zstd: xz takes most of the time of a build and gains a tenth in size.
const squashfs = { squashfscompression: "zstd" };

const liveMedium = marked(
  { image: "iso", flags: "overlay", firmware: "bios", volid: "CDROM", ...squashfs, kernelcmdline: consoles },
  { bootloader },
);

const netTree = marked({ image: "kis", filesystem: "squashfs", ...squashfs, kernelcmdline: consoles }, {});

const diskAttributes = {
  image: "oem",
  filesystem: "ext4",
  firmware: "bios",
  bootpartition: "false",
  kernelcmdline: `${consoles} rw`,
};

const sizeOf = (diskSizeMb: number) => marked({ unit: "M" }, String(diskSizeMb));

const disk = (diskSizeMb: number) =>
  marked(diskAttributes, { bootloader, size: sizeOf(diskSizeMb), oemconfig: { "oem-resize": false } });

/** Its first menu entry installs, and asks nothing: whoever boots it has said so. */
const installMedium = (diskSizeMb: number) =>
  marked(
    { ...diskAttributes, installiso: "true", installboot: "install", ...squashfs },
    { bootloader, size: sizeOf(diskSizeMb), oemconfig: { "oem-resize": false, "oem-unattended": true } },
  );
