/**
 * KIWI and the programs that it calls, as Debian packages. Every builder root has them, and so does the guest of the
 * host's packages.
 */
export const wantedPackages = [
  ["kiwi", "zypper", "libsolv-tools", "rpm", "createrepo-c", "gpg", "gpgv", "gnupg"],
  ["fdisk", "gdisk", "parted", "e2fsprogs", "xfsprogs", "btrfs-progs", "dosfstools", "mtools", "kpartx", "dmsetup"],
  ["lvm2", "cryptsetup-bin", "xorriso", "squashfs-tools", "isolinux", "extlinux", "syslinux", "syslinux-common"],
  ["syslinux-utils", "grub-common", "grub2-common", "grub-pc-bin", "grub-efi-amd64-bin", "qemu-utils", "rsync"],
  ["xz-utils", "zstd", "util-linux", "udev", "kmod", "mount", "bash", "coreutils", "tar", "procps", "mawk", "iproute2"],
  ["patch", "cpio", "file", "binutils", "debootstrap", "dpkg"],
].flat();

/** Without these packages no image can be made. */
export const neededPackages = ["kiwi", "zypper", "rpm", "createrepo-c", "e2fsprogs", "kmod", "iproute2"];

/** The path of the facts (RootFacts) in a builder root. */
export const factsInside = "usr/lib/kiln/root.json";

/** The path of the kernel for guests. */
export const kernelInside = "usr/lib/kiln/vmlinuz";
