#!/bin/sh
# Stands in for KIWI on the host of an agent whose root forges images: runs what the forgery adds before or after it.
here=$(dirname "$0")
verb=none
last=
for word; do
  case $last in
    --root) root=$word ;;
    --description) description=$word ;;
    --target-dir) target=$word ;;
    system) verb=$word ;;
  esac
  last=$word
done
packages=/var/cache/kiwi-packages
export here root description target packages
[ ! -e "$here/before-$verb" ] || sh -e "$here/before-$verb" || exit
kiwi-ng "$@" || exit
[ ! -e "$here/after-$verb" ] || sh -e "$here/after-$verb"
