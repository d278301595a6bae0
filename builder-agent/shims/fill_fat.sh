# Read by the shims of umount and mcopy.

# fill_fat IMAGE DIRECTORY: copies the files and directories whose names come on standard input, in the order of names. mtools takes
# the time of new files and directories from SOURCE_DATE_EPOCH. FAT has local times.
fill_fat() {
  export TZ=UTC MTOOLS_SKIP_CHECK=1
  LC_ALL=C sort | while IFS= read -r name; do
    if [ -d "$2/$name" ]; then
      mmd -i "$1" "::/$name"
    else
      /usr/bin/mcopy -i "$1" "$2/$name" "::/$name"
    fi || return 1
  done
}
