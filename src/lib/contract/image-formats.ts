import { containerFormats } from "./container-formats.ts";
import { diskFormats } from "./disk-formats.ts";
import type { FileSystem } from "./file-systems.ts";
import type { Datasource, ImageFormat, Product } from "./image-format.ts";
import { inQemu, onDisk, qemu, unpack } from "./image-ways.ts";

/** The facts that all image types with the same product share. */
interface ProductFacts {
  /** The type that KIWI builds. */
  kiwi: "oem" | "iso" | "kis" | "tbz";
  /** The image types whose tools an agent needs to build it. */
  needs: readonly ("oem" | "iso" | "net")[];
  /** Whether the disk has the size that the appliance chooses. Other images are as large as their contents. */
  hasDisk: boolean;
  /** The file systems that its root can have. Empty if it has none of these. */
  fileSystems: readonly FileSystem[];
  /** Whether the download is one medium (`.iso`), not an archive. */
  isMedium: boolean;
  /** Whether it has a boot loader, so that a machine or a testdrive can start from it alone. */
  startsAlone: boolean;
  /** The agent's abilities that its boot loader for UEFI needs. */
  efi: readonly ("UEFI disks" | "UEFI media")[];
  /**
   * The sources in which cloud-init can find data for a machine, apart from a cloud. Empty if the image has no first
   * boot.
   */
  datasources: readonly Datasource[];
}

/** Disks that a hypervisor or a person attaches to the machine. */
const attached: readonly Datasource[] = ["NoCloud", "ConfigDrive"];

/** The facts about a packed root, which starts no machine on its own, and which no build has to mount. */
const onlyFiles = {
  needs: ["net"],
  hasDisk: false,
  fileSystems: [],
  isMedium: false,
  startsAlone: false,
  efi: [],
  datasources: [],
} as const satisfies Partial<ProductFacts>;

/** KIWI mounts the EFI partition of a disk, and fills that of a medium without a mount. */
const products: Readonly<Record<Product, ProductFacts>> = {
  disk: {
    kiwi: "oem",
    needs: ["oem"],
    hasDisk: true,
    fileSystems: ["ext4", "xfs", "btrfs"],
    isMedium: false,
    startsAlone: true,
    efi: ["UEFI disks"],
    datasources: attached,
  },
  // Such a system loses its changes, so each boot would be its first.
  live: {
    kiwi: "iso",
    needs: ["iso"],
    hasDisk: false,
    fileSystems: [],
    isMedium: true,
    startsAlone: true,
    efi: ["UEFI media"],
    datasources: [],
  },
  installer: {
    kiwi: "oem",
    needs: ["oem", "iso"],
    hasDisk: true,
    fileSystems: ["ext4"],
    isMedium: true,
    startsAlone: true,
    efi: ["UEFI disks", "UEFI media"],
    datasources: attached,
  },
  network: {
    kiwi: "kis",
    ...onlyFiles,
  },
  container: {
    kiwi: "tbz",
    ...onlyFiles,
  },
};

/**
 * In the texts, `{file}` is the download, and `{name}` is the folder in it and its files, which the agent creates
 * (builder-agent/src/run/pack.ts).
 */
const formats = {
  ...diskFormats,
  iso: {
    label: "live medium",
    icon: "disc",
    product: "live",
    what: "A live medium. It runs without being installed, and forgets its changes when it stops.",
    ways: [onDisk("Write it to a USB stick", "{file}"), inQemu("-cdrom {file}")],
  },
  oemiso: {
    label: "installer",
    icon: "save",
    product: "installer",
    what: "An installation medium. It writes the system to the first disk of the machine that starts from it, without asking.",
    ways: [
      onDisk("Write it to a USB stick, and start the machine from that", "{file}"),
      {
        title: "Install it in QEMU",
        lines: [
          "qemu-img create -f qcow2 disk.qcow2 20G",
          `${qemu} -drive file=disk.qcow2,format=qcow2,if=virtio -cdrom {file}`,
        ],
      },
    ],
  },
  net: {
    label: "network boot",
    icon: "network",
    product: "network",
    what: "A tar archive with a kernel, an initial RAM disk and a packed root, for machines that start from a network.",
    ways: [
      unpack,
      {
        title: "Serve it by TFTP and HTTP",
        note:
          "Replace 192.0.2.10 with the address of your web server. The TFTP server also needs pxelinux.0 and ldlinux.c32, " +
          "and your DHCP server must name it.",
        lines: [
          "sed -i s/SERVER/192.0.2.10/ {name}/pxelinux.cfg/default",
          "sudo cp -r {name}/linux {name}/initrd {name}/pxelinux.cfg /srv/tftp/",
          "sudo cp {name}/{name}.squashfs /var/www/html/",
        ],
      },
      {
        title: "Try it in QEMU",
        lines: [
          "python3 -m http.server --bind 127.0.0.1 --directory {name} 8000 &",
          `${qemu} -nic user,model=virtio-net-pci -kernel {name}/linux -initrd {name}/initrd -append "root=live:http://10.0.2.2:8000/{name}.squashfs ` +
            'ip=dhcp rd.neednet=1 rd.live.overlay.overlayfs=1 console=tty0"',
        ],
      },
    ],
  },
  ...containerFormats,
} satisfies Readonly<Record<string, ImageFormat>>;

type ImageType = keyof typeof formats;

export const imageFormats: Readonly<Record<ImageType, ImageFormat>> = formats;

/** All image types that agents can build, in the order in which pages and messages list them. */
export const imageTypes = Object.keys(formats) as ImageType[];

export const productOf = (type: ImageType): ProductFacts => products[imageFormats[type].product];

/**
 * The sources in which cloud-init looks for data on a machine of this image type, in its order. Empty if it cannot
 * configure one.
 */
export function datasourcesOf(type: ImageType): readonly Datasource[] {
  const { datasource } = imageFormats[type];
  const { datasources } = productOf(type);
  return datasource === undefined ? datasources : [...datasources, datasource];
}
