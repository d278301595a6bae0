import type { DescriptionFacts } from "#lib/kiwi/description";
import type { Part } from "#lib/kiwi/part";

/** The size of an EFI partition with the program and a signed copy of it, in MB. Both contain an initial archive. */
export const unifiedKernelPartitionMb = 256;

/** The program on the EFI partition, before its owner signs it. */
export const unifiedKernelPath = "EFI/Linux/kiln.efi";

/** The program that firmware starts if it has no entry for the disk (UEFI specification, 3.5.1.1). */
export const removableLoaderPath = "EFI/BOOT/BOOTX64.EFI";

/** Makes one program of the kernel, the initial archive and the kernel's arguments, for the owner to sign. */
export const unifiedKernelPart = ({ hasUnifiedKernel }: Pick<DescriptionFacts, "hasUnifiedKernel">): Part =>
  hasUnifiedKernel === true ? { files: { "pre_disk_sync.sh": makeUnifiedKernel } } : {};

/**
 * KIWI runs it in the root after it has made the initial archive, and before it fills the partitions. The arguments are
 * those that KIWI writes for GRUB.
 */
const makeUnifiedKernel = String.raw`#!/bin/bash
set -eu
fail() { echo "$*" >&2; exit 1; }
kernel=$(ls -v /boot/vmlinuz-* | tail -n 1)
version=${"$"}{kernel#/boot/vmlinuz-}
archive=$(ls /boot/init*"$version"*)
[ -s /config.bootoptions ] || fail "KIWI has written no arguments for the kernel."
mkdir -p /boot/efi/${unifiedKernelPath.replace(/\/[^/]*$/, "")}
ukify build --linux "$kernel" --initrd "$archive" --uname "$version" --cmdline @/config.bootoptions \
  --os-release @/etc/os-release --output /boot/efi/${unifiedKernelPath}
`;
