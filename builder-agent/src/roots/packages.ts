/** KIWI and what it calls, by Debian's names: of the host's packages for the root "host", of a mirror's for all others. */
export const wantedPackages = [
  ["kiwi", "zypper", "libsolv-tools", "rpm", "createrepo-c", "gpg", "gpgv", "gnupg"],
  ["fdisk", "gdisk", "parted", "e2fsprogs", "xfsprogs", "btrfs-progs", "dosfstools", "mtools", "kpartx", "dmsetup"],
  ["lvm2", "cryptsetup-bin", "xorriso", "squashfs-tools", "isolinux", "extlinux", "syslinux", "syslinux-common"],
  ["syslinux-utils", "grub-common", "grub2-common", "grub-pc-bin", "grub-efi-amd64-bin", "qemu-utils", "rsync"],
  ["xz-utils", "zstd", "util-linux", "udev", "kmod", "mount", "bash", "coreutils", "tar", "procps", "mawk", "iproute2"],
  ["patch", "cpio", "file", "binutils", "debootstrap", "dpkg"],
].flat();

/** Without these no image is made. */
export const neededPackages = ["kiwi", "zypper", "rpm", "createrepo-c", "e2fsprogs", "kmod", "iproute2"];
