# Read by the shims of tar and mksquashfs.

# reproducible_directories ROOT: gives all directories of a root the time of its sources. KIWI NG makes the paths of this host in the root
# and removes them again, so the time of /tmp would depend on whether the work directory is below it. reproducible_times.py does this for
# ext4.
reproducible_directories() {
  [ -z "${SOURCE_DATE_EPOCH-}" ] || find "$1" -xdev -type d -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
}
