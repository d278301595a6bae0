#!/bin/sh
# First process of the guest, in the initial archive: joins builder root and scratch disk to a root, and goes there.
# Disks are known by their serial numbers. What it says goes to the serial console, where the agent reads it.
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

give_up() {
  echo "init: $*" > /dev/console
  sleep 1
  poweroff -f
}

# The kernel finds its disks by and by.
disk() {
  tries=0
  while [ $tries -lt 250 ]; do
    for found in /sys/block/vd*; do
      if [ "$(cat "$found/serial" 2> /dev/null)" = "$1" ]; then
        echo "/dev/${found##*/}"
        return
      fi
    done
    usleep 20000
    tries=$((tries + 1))
  done
}

for module in virtio_pci virtio_blk virtio_console virtio_rng squashfs overlay ext4; do
  modprobe -q $module
done

mount -t squashfs -o ro "$(disk root)" /lower || give_up "the builder root cannot be mounted"
scratch=$(disk scratch)
mount -o bind /dev /lower/dev
chroot /lower /sbin/mkfs.ext4 -q -F -m 0 -O ^has_journal -E lazy_itable_init=1,nodiscard "$scratch" ||
  give_up "the scratch disk cannot be formatted"
umount /lower/dev
mount -t ext4 -o noatime,discard "$scratch" /scratch || give_up "the scratch disk cannot be mounted"

mkdir /scratch/changes /scratch/overlay /scratch/build
mount -t overlay -o lowerdir=/lower,upperdir=/scratch/changes,workdir=/scratch/overlay overlay /new ||
  give_up "there is no root"
mount -o bind /scratch/build /new/build
mount -t squashfs -o ro,nodev "$(disk job)" /new/job || give_up "the job disk cannot be mounted"
for tree in proc sys dev; do
  mount -o move /$tree /new/$tree
done
mkdir -p /new/usr/lib/kiln
cp /builder.sh /new/usr/lib/kiln/builder.sh
exec switch_root /new /usr/lib/kiln/builder.sh
