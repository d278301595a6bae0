#!/bin/bash
# One package: build-package.sh REPOSITORY ARCH SPEC [DEBIAN-NAME RPM-NAME [PROVIDES]]
# ARCH: of the result, x86_64 or i586; a package for all architectures is made in the first's name.
# The last three are for repackaged-debian.spec. Called by build.sh, several at a time.
set -euo pipefail
# Packages contain the modes of the files that specs make.
umask 022

repository=$1 arch=$2 spec=$3 debian_name=${4-} rpm_name=${5-} provides=${6-}
name=${rpm_name:-$(basename "$spec" .spec)}
room=$WORK/rpmbuild/$repository/$name.$arch
case $arch in i586) debian=i386 ;; *) debian=amd64 ;; esac
mkdir -p "$room/tmp"
# With --target rpmbuild reads its configuration again and forgets --load, but never the home directory's file.
ln -s "$TINY/macros" "$room/.rpmmacros"

defines=(
  --define "tiny $TINY"
  --define "debian $WORK/debian/$debian"
  --define "host_busybox $WORK/busybox/bin/busybox"
  --define "_topdir $room"
  --define "_tmppath $room/tmp"
  --define "_dbpath $room/rpmdb"
  --define "_rpmdir $WORK/out/$repository"
)
[[ -z $debian_name ]] || defines+=(--define "debian_name $debian_name" --define "rpm_name $rpm_name")
[[ -z $provides ]] || defines+=(--define "further_provides $provides")

# rpmbuild warns about much that is meant so (the %20 in pattern categories); its words matter when it fails.
if ! HOME=$room rpmbuild -bb --target "$arch" "${defines[@]}" "$spec" > "$room/log" 2>&1; then
  { echo "tiny: building $name failed:"; tail -n 40 "$room/log"; } >&2
  # 255 makes xargs start no further package
  exit 255
fi
rm -rf "$room"
