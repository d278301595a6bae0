#!/bin/sh -eu
# Makes release.tar.xz: what a service and an agent of a commit run. Usage: make.sh COMMIT
here=$(cd "$(dirname "$0")" && pwd)
commit=$(git -C "$here" rev-parse --verify "$1^{commit}")
work=$(mktemp -d)
trap 'git -C "$here" worktree remove --force "$work/source"; rm -rf "$work"' EXIT

git -C "$here" worktree add --quiet --detach "$work/source" "$commit"
cd "$work/source"
npm ci --no-audit --no-fund
npm run build
echo "$commit" >COMMIT
mv dist/worker worker

# No order of the disk, no owner and no time of this machine.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --exclude='*.map' \
  --create COMMIT package.json worker migrations/*.sql src/contract builder-agent/src builder-agent/guest builder-agent/shims |
  xz -9e >"$here/release.tar.xz"
ls -l "$here/release.tar.xz"
