#!/bin/sh
# Stands in for kiwi-ng in tests of the agent: accepts the same command lines, prints recorded logs and leaves
# the same files. The description's file "scenario" selects the result; without it, the build succeeds.
set -eu
here=$(dirname "$(readlink -f "$0")")
name=Kiosk.x86_64-0.0.1

verb= root= target= description= type= log= cache=
while [ $# -gt 0 ]; do
  case $1 in
    prepare | create) verb=$1 ;;
    --root) root=$2 && shift ;;
    --target-dir) target=$2 && shift ;;
    --description) description=$2 && shift ;;
    --type=*) type=${1#--type=} ;;
    --logfile=*) log=${1#--logfile=} ;;
    --shared-cache-dir=*) cache=${1#--shared-cache-dir=} ;;
  esac
  shift
done

# Like KIWI: cache and repository have a folder in the root too, and the folders above it get the mode of new ones.
share() {
  mkdir -p "$root$1"
  up=$1
  while up=$(dirname "$up") && [ "$up" != / ]; do chmod 755 "$root$up"; done
}

prepare() {
  scenario=$(cat "$description/scenario" 2>/dev/null || echo well)
  mkdir "$root"
  mkdir -m 1777 "$root/tmp"
  mkdir -m 700 "$root/root"
  echo cached >"$cache/by-fake-kiwi"
  share "$cache"
  repository=$(sed -n 's|.*<source path="dir://\([^"]*\)".*|\1|p' "$description/config.xml")
  [ -e "$repository/repodata" ] # the build's packages are at this address
  share "$repository"
  echo "$scenario" >"$root/scenario"
  cp "$description/config.xml" "$root/config.xml"
  mkdir -p "$root/etc" "$root/image"
  cp "$description/config.xml" "$root/image/config.xml"
  echo "root:x:0:0:root:/root:/bin/sh" >"$root/etc/passwd"
  ln -s passwd "$root/etc/people"
  case $scenario in
    broken-dep | no-such-package | no-repository | bad-script)
      cat "$here/fixtures/prepare-$scenario.log"
      exit 1
      ;;
    disk-full)
      head -n 100 "$here/fixtures/prepare.log"
      echo "[ DEBUG   ]: 13:46:09 | bootstrap: error: unpacking of archive failed: cpio: write failed - No space left on device"
      echo "[ ERROR   ]: 13:46:09 | KiwiBootStrapPhaseFailed: Bootstrap package installation failed: Installation aborted"
      exit 1
      ;;
    flood) cat "$description/flood" "$here/fixtures/prepare.log" ;;
    slow)
      # As zypper's rpm may do: a child in a separate session, and a mount inside the root.
      head -n 100 "$here/fixtures/prepare.log"
      mkdir "$root/dev"
      mount --bind /dev "$root/dev"
      setsid sh -c 'exec sleep 987654' kiln-test-child &
      sleep 987654
      ;;
    *) cat "$here/fixtures/prepare.log" ;;
  esac
}

create() {
  cat "$here/fixtures/create-$type.log"
  cp "$here/fixtures/example.packages" "$target/$name.packages"
  if [ "$type" = iso ]; then
    head -c 3000000 /dev/zero | tr '\0' 'i' >"$target/$name.iso"
  else
    # A disk with a hole: the archive must be small, the unpacked disk must be complete.
    printf 'begin' >"$target/$name.raw"
    truncate -s 64M "$target/$name.raw"
    printf 'end' >>"$target/$name.raw"
  fi
}

# As KIWI does: a progress bar on standard output, the log in its file.
printf '\r[ INFO    ]: Processing: [####    ] 25%%'
"$verb" >>"$log"
