/** One way to start an image: shell commands, in order. */
export interface Way {
  title: string;
  /** A warning to read first, such as about data loss. */
  note?: string;
  lines: readonly string[];
}

/** The kind of the downloaded file, and how to start the system in it. */
export interface ImageUse {
  what: string;
  ways: readonly Way[];
}

/**
 * The kind of an image, regardless of its file format: a disk, a live or install medium, files for a network boot, or a
 * root that runs on the kernel of its host.
 */
export const productNames = ["disk", "live", "installer", "network", "container"] as const;
export type Product = (typeof productNames)[number];

/** Bytes that must be at a position of a file, in hex. A negative position counts from the end of the file. */
interface Mark {
  at: number;
  hex: string;
}

/** How qemu-img makes a container, and what must be true before it may read one that a user may have changed. */
export interface Conversion {
  /** qemu-img's name of the format. */
  driver: string;
  options: readonly string[];
  /** Whether agents write the file themselves, in compressed pieces. */
  isStreamed?: true;
  /** Proves the format, and that the file needs no other file: no parent, no parts, no separate data file. */
  marks: readonly Mark[];
  /** The position of the disk's size: eight bytes, in units of `unit` bytes. Undefined if it has no fixed place. */
  size?: { at: number; unit: number; order: "little" | "big" };
  /** The disk is enlarged to a multiple of this many bytes. */
  multipleOf?: number;
}

/** The file format of a disk. */
export interface Container {
  /** The extension of the disk's file. */
  suffix: string;
  /** Undefined for the raw disk itself. */
  conversion?: Conversion;
}

/** cloud-init's names of its data sources. */
export type Datasource = "NoCloud" | "ConfigDrive" | "OpenStack" | "OVF" | "Azure" | "GCE" | "Ec2";

/**
 * An image type (the API's `image_type`). Everything that depends on it is in its record, or in that of its product.
 */
export interface ImageFormat extends ImageUse {
  /** The purpose of the format, as users read it. */
  label: string;
  /** The icon on pages (src/web/parts/icon-names.ts). */
  icon: "usb" | "disc" | "monitor" | "server" | "cloud" | "network" | "save" | "box" | "terminal";
  product: Product;
  /** The container. Only disks have one. */
  container?: Container;
  /** The name of the disk if it is not in a folder of the archive. Default: `NAME/NAME.SUFFIX`. */
  alone?: string;
  /**
   * The files next to the disk that describe a virtual machine: for VMware, for `xl` of Xen, as an OVF package,
   * or as a box of Vagrant.
   */
  machine?: "vmx" | "xl" | "ova" | "libvirt box" | "VirtualBox box";
  /** The extension of a download that is a tar archive without compression. Default: it is a `tar.gz`. */
  plainTar?: "ova";
  /** How the target machine connects the disk. Default: virtio. */
  bus?: "ide";
  /**
   * The source in which cloud-init finds its data in the format's cloud. In every format it also reads a second disk.
   */
  datasource?: Datasource;
  /** Ignition's name of the platform that gives a machine its configuration. Absent if none was tried. */
  ignition?: "qemu";
  /** How the root of a container is described. Default: the archive is the root alone. */
  layout?: "oci";
}
