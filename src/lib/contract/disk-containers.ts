import type { Container } from "./image-format.ts";

export const raw: Container = { suffix: "raw" };

/** One growing file, which VMware's desktop products open unchanged. A header with a size rules out a list of parts. */
export const vmdk = {
  suffix: "vmdk",
  conversion: {
    driver: "vmdk",
    options: ["adapter_type=ide"],
    marks: [{ at: 0, hex: "4b444d56" }],
    size: { at: 12, unit: 512, order: "little" },
  },
} satisfies Container;

/** A VMDK in compressed pieces, which can only be read. OVF packages contain such disks. */
export const streamedVmdk: Container = {
  ...vmdk,
  conversion: { ...vmdk.conversion, isStreamed: true },
};

/**
 * Version 3 of the format. The marks rule out a parent (eight zero bytes at 8), encryption (at 32), and incompatible
 * features (at 72), such as data in another file.
 */
export const qcow2: Container = {
  suffix: "qcow2",
  conversion: {
    driver: "qcow2",
    options: ["compat=1.1"],
    marks: [
      { at: 0, hex: "514649fb00000003" },
      { at: 8, hex: "0000000000000000" },
      { at: 32, hex: "00000000" },
      { at: 72, hex: "0000000000000000" },
    ],
    size: { at: 24, unit: 1, order: "big" },
  },
};

/** A raw disk and a last sector, which is what Azure accepts. KIWI's disks are whole MiB, as Azure requires. */
export const vhd: Container = {
  suffix: "vhd",
  conversion: {
    driver: "vpc",
    options: ["subformat=fixed", "force_size=on"],
    marks: [
      { at: -512, hex: "636f6e6563746978" },
      { at: -452, hex: "00000002" },
    ],
    size: { at: -464, unit: 1, order: "big" },
  },
};

/** QEMU refuses a VHDX with a parent. The size has no fixed position, so qemu-img's output is compared. */
export const vhdx: Container = {
  suffix: "vhdx",
  conversion: { driver: "vhdx", options: ["subformat=dynamic"], marks: [{ at: 0, hex: "7668647866696c65" }] },
};

/** QEMU refuses a VDI with a parent. */
export const vdi: Container = {
  suffix: "vdi",
  conversion: {
    driver: "vdi",
    options: [],
    marks: [{ at: 64, hex: "7f10dabe" }],
    size: { at: 368, unit: 1, order: "little" },
  },
};

/** Google Compute Engine imports disks of whole GiB. */
export const gce: Container = {
  suffix: "raw",
  conversion: { driver: "raw", options: [], marks: [{ at: 510, hex: "55aa" }], multipleOf: 1024 ** 3 },
};
