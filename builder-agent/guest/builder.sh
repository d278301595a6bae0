#!/bin/bash
# First process in the guest's own root: runs the job disk's /job/run and switches the machine off.
#   port "log": what the job prints, line by line        port "status": what the agent has to know, a word and a value each
# The job finds the log as the FIFO /run/log, the status as file descriptor 4, the result disk as $RESULT_DISK.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts -o mode=620,ptmxmode=666
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mkdir -p /run/lock /run/udev
ln -sfn /proc/self/fd /dev/fd
hostname builder
ip link set lo up
umask 022

for module in loop isofs vfat nls_cp437 nls_ascii nls_iso8859-1 dm_mod dm_snapshot; do
  modprobe -q $module
done
# Where it is: the kernel makes the device files of disks and partitions, udev the other names that LVM and EFI builds use.
if [ -x /lib/systemd/systemd-udevd ]; then
  /lib/systemd/systemd-udevd --daemon
  udevadm trigger --action=add
fi

port() {
  for found in /sys/class/virtio-ports/*; do
    if [ "$(cat "$found/name")" = "$1" ]; then echo "/dev/${found##*/}"; fi
  done
}
for found in /sys/block/vd*; do
  if [ "$(cat "$found/serial")" = result ]; then export RESULT_DISK=/dev/${found##*/}; fi
done

exec 4> "$(port status)"
echo "up $(uname -r)" >&4
# A port can be open but once; a FIFO has as many writers as come.
mkfifo /run/log
cat /run/log > "$(port log)" &
log=$!
exec 3<> /run/log
(cd /build && exec setsid /job/run) > /run/log 2>&1 < /dev/null
echo "job $?" >&4
# All writers but this one are gone, or not worth waiting for.
exec 3>&-
for ((waited = 0; waited < 50; waited++)); do
  kill -0 $log 2> /dev/null || break
  sleep 0.1
done
sync
echo o > /proc/sysrq-trigger
sleep 60
