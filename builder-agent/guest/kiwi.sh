#!/bin/bash
# The job of an image build. /job has: description, packages, home, shims, kiwi.yml, and the commands `prepare` and `create`,
# their words parted by NUL. Leaves on the result disk a tar stream: target/ is what KIWI made, root/ the tree it was made from.

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

mkdir -p /build/{packages,repository/changes,repository/overlay,target,cache,temp}
cp -a /job/home /build/home
# createrepo_c writes beside the packages, and their disk is read-only.
mount -t overlay -o lowerdir=/job/packages,upperdir=/build/repository/changes,workdir=/build/repository/overlay \
  overlay /build/packages || exit 1
step index && step prepare && step create || exit 1

# What is mounted there in a running system is in no image (build/root-walk.ts says the same for builds without a guest).
tar --create --file=- --directory=/build --format=gnu --sparse --numeric-owner --one-file-system --anchored \
  --exclude='root/'{proc,sys,dev,run,tmp}'/*' \
  --exclude='root/'{image,.profile,.kconfig,.buildenv,var/cache/kiwi} \
  target root |
  dd of="$RESULT_DISK" bs=1M iflag=fullblock conv=fsync status=none
codes="${PIPESTATUS[*]}"
echo "result $codes" >&4
[ "$codes" = "0 0" ]
