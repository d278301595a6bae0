import { imageFormats, type Firmware, type ImageType, type Product } from "#lib/contract/index";
import { marked, type XmlMarked } from "#lib/wire/xml";

// The screen of a testdrive, and the serial line of a server.
const consoles = "console=tty0 console=ttyS0,115200";
const bootloader = marked({ name: "grub2", timeout: "1" }, {});

interface Disk {
  diskSizeMb: number;
  firmware: Firmware;
}

/**
 * KIWI's `<type>` for an image type. Every disk boots with BIOS, which QEMU, VMware, Xen (HVM) and EC2 all have: KIWI's `efi`
 * gives a disk a partition for either firmware, and a medium GRUB for both. The agent converts the raw disk to the format of
 * the image type.
 */
export const imageTypeElement = (imageType: ImageType, facts: Disk): XmlMarked =>
  elements[imageFormats[imageType].product](facts);

// xz would take most of a build's time and save only a tenth of the size.
const squashfs = { squashfscompression: "zstd" };

const liveMedium = ({ firmware }: Disk) =>
  marked(
    { image: "iso", flags: "overlay", firmware, volid: "CDROM", ...squashfs, kernelcmdline: consoles },
    { bootloader },
  );

const netTree = marked({ image: "kis", filesystem: "squashfs", ...squashfs, kernelcmdline: consoles }, {});

const diskAttributes = (firmware: Firmware) => ({
  image: "oem",
  filesystem: "ext4",
  firmware,
  bootpartition: "false",
  kernelcmdline: `${consoles} rw`,
});

const sizeOf = (diskSizeMb: number) => marked({ unit: "M" }, String(diskSizeMb));

const disk = ({ diskSizeMb, firmware }: Disk) =>
  marked(diskAttributes(firmware), { bootloader, size: sizeOf(diskSizeMb), oemconfig: { "oem-resize": false } });

/** Its first menu entry installs without questions: booting the medium is consent enough. */
const installMedium = ({ diskSizeMb, firmware }: Disk) =>
  marked(
    { ...diskAttributes(firmware), installiso: "true", installboot: "install", ...squashfs },
    { bootloader, size: sizeOf(diskSizeMb), oemconfig: { "oem-resize": false, "oem-unattended": true } },
  );

const elements: Readonly<Record<Product, (facts: Disk) => XmlMarked>> = {
  disk,
  live: liveMedium,
  installer: installMedium,
  network: () => netTree,
};
