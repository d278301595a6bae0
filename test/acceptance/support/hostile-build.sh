#!/bin/bash
# A build script that has left its chroot and is root in the guest's own root, with all of the guest's tools. It tries everything
# that must fail, and prints a line "TRIED name: result" for each attempt; hostile-guest.ts has the expected results.
. /job/description/target.env # SECRET_FILE, SECRET_WORD, TOKEN, WORKER_PORT: the host's, from the test

tried() {
  local name=$1
  shift
  echo "TRIED $name: $("$@" 2>&1 | tr '\n' ' ' | head -c 300)"
}

# connect HOST PORT
connect() {
  if timeout 5 bash -c "echo > /dev/tcp/$1/$2" 2> /dev/null; then echo connected; else echo refused; fi
}

# The pattern does not match itself.
processes() {
  # A process may end before it is read.
  for process in /proc/[0-9]*; do { tr '\0' ' ' < "$process/cmdline"; } 2> /dev/null; echo; done | grep --count --extended-regexp '[q]emu|[n]ode |[b]wrap'
}

# Does not search command lines: the script's own parameters contain the word.
search() {
  grep --recursive --binary-files=text --files-with-matches --fixed-strings "$1" /build/home /etc /run /tmp /root /home /var /srv \
    2> /dev/null | wc -l
  cat /proc/[0-9]*/environ 2> /dev/null | grep --text --count --fixed-strings "$1"
}

disk() {
  for found in /sys/block/vd*; do
    if [ "$(cat "$found/serial")" = "$1" ]; then echo "/dev/${found##*/}"; fi
  done
}

write_disk() {
  blockdev --setrw "$(disk "$1")"
  if dd if=/dev/zero of="$(disk "$1")" bs=4096 count=1 conv=fsync 2> /dev/null; then echo written; else echo refused; fi
}

fill() {
  dd if=/dev/zero of=/build/fill bs=1M 2>&1 | grep --only-matching 'No space left on device'
  du --block-size=1M /build/fill | cut -f 1
  rm /build/fill
}

tried user id --user
tried host-file cat "$SECRET_FILE"
tried host-tree ls -A /home /srv /root
tried host-word search "$SECRET_WORD"
tried token search "$TOKEN"
tried networks ls /sys/class/net
tried worker connect 127.0.0.1 "$WORKER_PORT"
tried gateway connect 10.0.2.2 "$WORKER_PORT"
tried processes processes
tried job-disk write_disk job
tried root-disk write_disk root
tried full-disk fill

# Results that an agent may handle wrongly.
ln -s "$SECRET_FILE" /build/target/link.packages
ln -s "$SECRET_FILE" /build/target/link.raw
mkdir /build/target/folder.iso
{ printf 'QFI\373\0\0\0\3'; head -c 65528 /dev/zero; } > /build/target/evil.qcow2
ln -s "$SECRET_FILE" /build/root/etc/smuggled
ln -s ../../../../../../../../../../etc/passwd /build/root/etc/climbing
exit 0
