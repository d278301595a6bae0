/** The facts about an architecture. The catalogues list what each distribution offers for it. */
interface Architecture {
  /** The name that people and clients of the API use. */
  name: string;
  /** Debian's name. */
  debian: string;
  /** Go's name, which container images contain. */
  go: string;
  /** Amazon's name. */
  amazon: string;
  /** The kernel's name of the first serial line. */
  serial: string;
  hasBios: boolean;
  /** Whether an image can have a boot loader for UEFI. */
  hasEfi: boolean;
  /** How a machine starts an image, by the image's firmware. */
  boots: Readonly<Record<"bios" | "efi" | "uefi", string>>;
  /** Starts QEMU with hardware virtualisation if available. */
  qemu: string;
}

const pc = {
  hasBios: true,
  serial: "ttyS0",
  boots: { bios: "BIOS", efi: "BIOS and UEFI", uefi: "BIOS and UEFI, with Secure Boot" },
  // Five-level page tables only make emulation slower.
  qemu: "qemu-system-x86_64 -accel kvm -accel tcg -cpu max,la57=off -m 2048",
} as const;

export const architectures = {
  x86_64: { name: "x86_64", debian: "amd64", go: "amd64", amazon: "x86_64", hasEfi: true, ...pc },
  i586: { name: "i686", debian: "i386", go: "386", amazon: "i386", hasEfi: false, ...pc },
  aarch64: {
    name: "aarch64",
    debian: "arm64",
    go: "arm64",
    amazon: "arm64",
    serial: "ttyAMA0",
    hasBios: false,
    hasEfi: true,
    boots: { bios: "UEFI", efi: "UEFI", uefi: "UEFI, with Secure Boot" },
    qemu:
      "qemu-system-aarch64 -machine virt -accel kvm -accel tcg -cpu max -m 2048 -bios /usr/share/AAVMF/AAVMF_CODE.fd " +
      "-device virtio-gpu-pci -device qemu-xhci -device usb-kbd",
  },
} as const satisfies Readonly<Record<string, Architecture>>;

export type Arch = keyof typeof architectures;

export const arches = Object.keys(architectures) as Arch[];

/** The names that people and clients of the API use, as a list in words. */
export const archNames = arches.map((arch) => architectures[arch].name);
