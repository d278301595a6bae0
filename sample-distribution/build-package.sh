#!/bin/bash
# One package: build-package.sh REPOSITORY SPEC [DEBIAN-NAME RPM-NAME [PROVIDES]]
# The last three are for repackaged-debian.spec. Called by build.sh, several at a time.
set -euo pipefail

repository=$1 spec=$2 debian_name=${3-} rpm_name=${4-} provides=${5-}
name=${rpm_name:-$(basename "$spec" .spec)}
room=$WORK/rpmbuild/$repository/$name
mkdir -p "$room/tmp"

defines=(
  --define "tiny $TINY"
  --define "debian $WORK/debian"
  --define "_topdir $room"
  --define "_tmppath $room/tmp"
  --define "_dbpath $room/rpmdb"
  --define "_rpmdir $WORK/out/$repository"
)
[[ -z $debian_name ]] || defines+=(--define "debian_name $debian_name" --define "rpm_name $rpm_name")
[[ -z $provides ]] || defines+=(--define "further_provides $provides")

# rpmbuild warns about much that is meant so (the %20 in pattern categories); its words matter when it fails.
if ! rpmbuild -bb --load="$TINY/macros" "${defines[@]}" "$spec" > "$room/log" 2>&1; then
  { echo "tiny: building $name failed:"; tail -n 40 "$room/log"; } >&2
  # 255 makes xargs start no further package
  exit 255
fi
rm -rf "$room"
