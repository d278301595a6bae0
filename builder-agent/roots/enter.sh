#!/bin/sh
# Runs a command in a builder root, in the mount and process namespaces that it is called in:
#   enter.sh ROOT.squashfs WORKDIR READONLYDIR COMMAND [ARGUMENTS…]
# The root is read-only, with a layer in memory above it. WORKDIR and READONLYDIR are there under their own names, and so are this
# host's devices: what runs here is root on this host all the same, and the root is no boundary.
set -eu
root=$1 work=$2 shims=$3
shift 3

scratch=$(mktemp -d "$work/.builder-XXXXXX")
mkdir "$scratch/lower" "$scratch/layer" "$scratch/root" "$scratch/tmp"
chmod 1777 "$scratch/tmp"
mount -t squashfs -o loop,ro,nodev "$root" "$scratch/lower"
mount -t tmpfs -o mode=755 tmpfs "$scratch/layer"
mkdir "$scratch/layer/changes" "$scratch/layer/overlay"
mount -t overlay -o "lowerdir=$scratch/lower,upperdir=$scratch/layer/changes,workdir=$scratch/layer/overlay" overlay "$scratch/root"

cd "$scratch/root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mkdir run/lock
for dir in tmp var/tmp; do mount --bind "$scratch/tmp" $dir; done
mkdir -p ".$work" ".$shims"
mount --bind "$work" ".$work"
mount --bind -o ro "$shims" ".$shims"
# The new root over the old one, which then goes.
pivot_root . .
umount -l .
cd "$work"
exec "$@"
