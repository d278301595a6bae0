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
 * A function of the boot program: gives the root's partition and its ext4 the rest of the disk, because a disk is usually
 * larger than the image that was written to it. It does nothing if another partition follows, for volumes and other file
 * systems, if the image lacks a program for it, and if cloud-init is there, which does the same.
 */
export const growRootFunction = String.raw`${growPartitionFunction}
# grow_root MOUNTPOINT
grow_root() {
  for program in sfdisk partx resize2fs; do command -v $program > /dev/null 2>&1 || return 0; done
  [ ! -x /usr/bin/cloud-init ] || return 0
  device=
  while read -r _ _ numbers _ at rest; do
    [ "$at" = "$1" ] || continue
    case $rest in *" - ext4 "*) device=$numbers ;; *) device= ;; esac
  done < /proc/self/mountinfo
  # The initial archive has grown the partition of an encrypted root before it opened it.
  if [ "$(cat "/sys/dev/block/$device/dm/name" 2> /dev/null)" = kiln-root ]; then
    resize2fs /dev/mapper/kiln-root > /dev/null || echo "kiln: the root did not get the rest of its disk"
    return 0
  fi
  [ -n "$device" ] && [ -e "/sys/dev/block/$device/partition" ] || return 0
  grow_partition "$(readlink -f "/sys/dev/block/$device")" || return 0
  # Each time: the power may have failed between the two steps.
  resize2fs "/dev/$(basename "$partition")" > /dev/null || echo "kiln: the root did not get the rest of $disk"
}
`;
