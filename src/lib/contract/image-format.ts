/** One way to start an image: the lines of a shell, in order. */
export interface Way {
  title: string;
  /** What to know before, such as what is lost. */
  note?: string;
  lines: readonly string[];
}

/** What the downloaded file is, and how to start the system in it. */
export interface ImageUse {
  what: string;
  ways: readonly Way[];
}

/** What an image is, whatever contains it: a disk, a medium that runs or installs the system, or files for a network boot. */
export const productNames = ["disk", "live", "installer", "network"] as const;
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
  /** Proves the format, and that the file needs no other file: no parent, no parts, no file with the data. */
  marks: readonly Mark[];
  /** Where the size of the disk is: eight bytes, in units of `unit` bytes. Undefined if it has no fixed place. */
  size?: { at: number; unit: number; order: "little" | "big" };
  /** The disk grows to a multiple of so many bytes. */
  multipleOf?: number;
}

/** The file format of a disk. */
export interface Container {
  /** The extension of the disk's file. */
  suffix: string;
  /** Undefined: it is the raw disk itself. */
  conversion?: Conversion;
}

/** An image type (the API's `image_type`). Everything that depends on the type is in its record, or in that of its product. */
export interface ImageFormat extends ImageUse {
  /** For people: what it is for. */
  label: string;
  /** On pages (src/web/parts/icon-names.ts). */
  icon: "usb" | "disc" | "monitor" | "server" | "cloud" | "network" | "save";
  product: Product;
  /** Only disks have one. */
  container?: Container;
  /** The name of the disk if it is alone in the archive, without a folder. Default: `NAME/NAME.SUFFIX`. */
  alone?: string;
  /** The configuration file of a virtual machine that lies beside the disk: for VMware, or for `xl` of Xen. */
  machine?: "vmx" | "xl";
  /** How the machine that it is for connects the disk. Default: virtio. */
  bus?: "ide";
}
