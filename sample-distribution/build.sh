#!/bin/bash
# Builds Tiny Linux, the sample distribution: two signed rpm-md repositories and the key to check them with.
#
#   build.sh [--cache DIR] OUT      makes OUT/main, OUT/updates and OUT/keys/tiny.asc
#   build.sh --inputs-hash          prints a sha256 over everything that decides what comes out
#
# Each step is one line "tiny: …" on stdout; whatever the tools complain about goes to stderr.
set -euo pipefail

TINY=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CACHE=${TINY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kiln}
# One fixed moment for every file and every header: the same inputs give the same packages.
export SOURCE_DATE_EPOCH=1767225600
export TINY

source "$TINY/debian.sh"
source "$TINY/publish.sh"

usage() { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
step() { echo "tiny: $*"; }
die() { echo "tiny: $*" >&2; exit 1; }

# The README decides nothing; everything else in this folder may. Packages of other architectures have the versions of
# amd64's, since they are made from the same sources; asking for them would need lists that a machine has no reason to have.
inputs_hash() {
  {
    (cd "$TINY" && find . -type f ! -name README.md -print0 | sort -z | xargs -0 sha256sum)
    debian_versions amd64
  } | sha256sum | cut -d' ' -f1
}

# OUT is replaced as a whole, so it must be ours, empty or absent.
check_replaceable() {
  local out=$1
  [[ ! -e $out || -f $out/keys/tiny.asc || -z $(ls -A "$out") ]] ||
    die "$out exists and is not a Tiny Linux: not replaced"
}

# rpm's architectures and what dpkg calls them.
declare -A DEBIAN_ARCHITECTURE=([x86_64]=amd64 [i586]=i386)

is_for_x86_64_only() { grep -qx 'ExclusiveArch: x86_64' "$1"; }
is_for_all_architectures() { grep -qE '^(BuildArch: noarch|%include .*/(leaf|pattern)\.inc)$' "$1"; }

# Jobs for build-package.sh, a line each, the slowest first: a kernel must not start when all others are done.
package_jobs() {
  local repository spec arch
  for arch in i586 x86_64; do echo main $arch "$TINY/specs/main/kernel-default.spec"; done
  for spec in "$TINY"/specs/*/*.spec; do
    repository=$(basename "$(dirname "$spec")")
    if [[ $spec == */kernel-default.spec ]]; then continue; fi
    echo "$repository" x86_64 "$spec"
    is_for_x86_64_only "$spec" || is_for_all_architectures "$spec" || echo "$repository" i586 "$spec"
  done
  for arch in x86_64 i586; do
    repackaged_debian_packages "${DEBIAN_ARCHITECTURE[$arch]}" | sed "s|^|main $arch $TINY/specs/repackaged-debian.spec |"
  done
}

build_packages() {
  step "building $(package_jobs | wc -l) packages"
  package_jobs | xargs -P "$(nproc)" -L 1 "$TINY/build-package.sh"
}

# Nobody ever sees a half-made OUT: the old one stays until the new one is complete.
put_in_place() {
  local made=$1 out=$2
  chmod 755 "$made"
  if [[ -e $out ]]; then mv "$out" "$WORK/replaced"; fi
  mv "$made" "$out"
}

build() {
  local out architecture
  mkdir -p "$CACHE" "$(dirname "$1")"
  CACHE=$(cd "$CACHE" && pwd)
  out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
  check_replaceable "$out"

  WORK=$(mktemp -d "$out.building.XXXXXX")
  trap 'end_signing; rm -rf "$WORK"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  export WORK
  mkdir -p "$WORK"/out/{main,updates,keys}

  for architecture in "${DEBIAN_ARCHITECTURE[@]}"; do fetch_debian_packages "$architecture"; done
  # Not every kernel runs the programs of i586 (ia32_emulation=off), so specs call this one for either architecture.
  dpkg-deb -x "$WORK/debian/amd64/busybox-static.deb" "$WORK/busybox"
  build_packages
  begin_signing "$CACHE" "$WORK/out/keys/tiny.asc"
  sign_packages "$WORK"/out/{main,updates}
  publish_repository "$WORK/out/main"
  publish_repository "$WORK/out/updates"
  inputs_hash > "$WORK/out/inputs-hash"
  put_in_place "$WORK/out" "$out"
  step "done: $(find "$out" -name '*.rpm' | wc -l) packages, $(du -sm "$out" | cut -f1) MB in $out"
}

OUT=
while (($#)); do
  case $1 in
    --inputs-hash) inputs_hash; exit ;;
    --cache) CACHE=${2:?"--cache needs a directory"}; shift ;;
    -h | --help) usage; exit ;;
    -*) die "unknown option $1" ;;
    *) OUT=$1 ;;
  esac
  shift
done
[[ -n $OUT ]] || { usage >&2; exit 2; }
build "$OUT"
