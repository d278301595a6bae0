#!/bin/bash
# The job of an image build. /job has: description, packages, home, shims, kiwi.yml, and the commands of the steps, their words
# parted by NUL: `index`, `prepare` and perhaps `keep`, or `restore` with the archive of a prepared root; then `create`.
# Leaves on the result disk a tar stream: target/ is what KIWI made, root/ the tree it was made from, kept/ the archive of the
# root as it was before.

# Runs a command of the job disk; its log comes through /run/log, the end of its complaints through the status port.
step() {
  local words code
  mapfile -d '' -t words < "/job/$1"
  "${words[@]}" > /dev/null 2> /build/complaints
  code=$?
  if [ $code != 0 ]; then echo "complaint $(tail -n 1 /build/complaints | tr -cd '[:print:]' | head -c 500)" >&4; fi
  echo "$1 $code" >&4
  return $code
}

# An earlier build's root, with this one's description.
restore_root() {
  mkdir /build/root && step restore &&
    cp --remove-destination /job/description/config.xml /build/root/image/config.xml
}

mkdir -p /build/{packages,repository/changes,repository/overlay,target,cache,temp,kept}
cp -a /job/home /build/home
# createrepo_c writes beside the packages, and their disk is read-only.
mount -t overlay -o lowerdir=/job/packages,upperdir=/build/repository/changes,workdir=/build/repository/overlay \
  overlay /build/packages || exit 1
if [ -e /job/restore ]; then
  restore_root || exit 1
else
  step index && step prepare || exit 1
  # Nobody has to have it.
  if [ -e /job/keep ] && ! step keep; then rm -f /build/kept/*; fi
fi
step create || exit 1

# The archive is not worth an image that finds no room beside it.
need=$(du --summarize --total --block-size=1M /build/{target,root,kept} | tail -n 1 | cut -f 1)
[ "$need" -lt $(($(blockdev --getsize64 "$RESULT_DISK") / 1024 / 1024 * 9 / 10)) ] || rm -f /build/kept/*

# What is mounted there in a running system is in no image (build/root-walk.ts says the same for builds without a guest).
tar --create --file=- --directory=/build --format=gnu --sparse --numeric-owner --one-file-system --anchored \
  --exclude='root/'{proc,sys,dev,run,tmp}'/*' \
  --exclude='root/'{image,.profile,.kconfig,.buildenv,var/cache/kiwi} \
  target root kept |
  dd of="$RESULT_DISK" bs=1M iflag=fullblock conv=fsync status=none
codes="${PIPESTATUS[*]}"
echo "result $codes" >&4
[ "$codes" = "0 0" ]
