/** A shell function: gives a partition the rest of its disk. It fails if another partition follows. */
export const growPartitionFunction = String.raw`
# grow_partition FOLDER: of the partition in /sys
grow_partition() {
  partition=$1
  number=$(cat "$partition/partition")
  start=$(cat "$partition/start")
  for other in "$partition"/../*/start; do [ "$(cat "$other")" -le "$start" ] || return 1; done
  disk=/dev/$(basename "$(dirname "$partition")")
  # In sectors. Less than 16 MiB may be what the partition table keeps for itself.
  room=$(($(cat "$partition/../size") - start - $(cat "$partition/size")))
  if [ "$room" -gt 32768 ]; then
    # Without its old end and this size, sfdisk takes all there is. A disk in use needs --force.
    sfdisk --dump "$disk" | sed -e '/^last-lba:/d' -e "/[^0-9]$number : /s/size= *[0-9]*, *//" |
      sfdisk --quiet --force --no-reread --no-tell-kernel "$disk" > /dev/null &&
      partx --update --nr "$number" "$disk"
  fi
}
`;

/**
 * A function of the boot program: gives the root's partition and its file system the rest of the disk, because a disk
 * is usually larger than the image that was written to it. It does nothing if another partition follows, for volumes,
 * if the image lacks a program for it, and if Kiln has configured cloud-init, which does the same.
 */
export const growRootFunction = String.raw`${growPartitionFunction}
# resize_root TYPE DEVICE MOUNTPOINT
resize_root() {
  case $1 in
    ext4) resize2fs "$2" ;;
    xfs) xfs_growfs "$3" ;;
    btrfs) btrfs filesystem resize max "$3" ;;
  esac > /dev/null || echo "kiln: the root did not get the rest of its disk"
}

# grow_root MOUNTPOINT
grow_root() {
  # Without this file, cloud-init stays off on Debian if it finds no data.
  [ ! -e /etc/cloud/cloud.cfg.d/95-kiln.cfg ] || return 0
  type=
  while read -r _ _ numbers _ at rest; do
    [ "$at" = "$1" ] || continue
    set -- "$1" ${"$"}{rest#* - }
    type=$2 partition=/sys/dev/block/$numbers
    # The numbers of a btrfs are not those of its partition.
    [ -e "$partition" ] || partition=/sys/class/block/$(basename "$(readlink -f "$3")")
  done < /proc/self/mountinfo
  case $type in ext4) program=resize2fs ;; xfs) program=xfs_growfs ;; btrfs) program=btrfs ;; *) return 0 ;; esac
  for program in sfdisk partx $program; do command -v $program > /dev/null 2>&1 || return 0; done
  # The initial archive has grown the partition of an encrypted root before it opened it.
  if [ "$(cat "$partition/dm/name" 2> /dev/null)" = kiln-root ]; then
    resize_root "$type" /dev/mapper/kiln-root "$1"
    return 0
  fi
  [ -e "$partition/partition" ] || return 0
  grow_partition "$(readlink -f "$partition")" || return 0
  # Each time: the power may have failed between the two steps.
  resize_root "$type" "/dev/$(basename "$partition")" "$1"
}
`;
