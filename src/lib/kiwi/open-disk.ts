import { growPartitionFunction } from "#lib/kiwi/grow-root";
import { keptKeyFunctions } from "#lib/kiwi/kept-key";
import { type TangServer, tangKeeper } from "#lib/kiwi/tang-key";
import { tpmKeeper } from "#lib/kiwi/tpm-key";

/**
 * The program of the initial archive that encrypts the root at the first boot, and opens it at each one. The header of
 * LUKS2 is in its own partition before the root's, so that no part of the root has to move. The header is complete
 * before the first block is encrypted, and cryptsetup continues where a power cut stopped it.
 */
export const openDisk = (way: keyof typeof ways, server: TangServer): string =>
  `${functions}${ways[way](server)}${program}`;

const functions = String.raw`#!/bin/sh
# Written by Kiln: encrypts the root at the first boot, and opens it at each one.
label=kiln-root
state=/run/kiln-disk
key=$state/key
umask 077
mkdir -p "$state"

consoles() { sed 's/\<tty0\>/tty1/' /sys/class/tty/console/active; }
say() { for console in $(consoles); do printf '\r\n%s\r\n' "$*" >> "/dev/$console"; done 2> /dev/null; }

# neighbour DEVICE STEP: the partition of the same disk whose number is so much higher
neighbour() {
  here=$(readlink -f "/sys/class/block/$(basename "$1")")
  wanted=$(($(cat "$here/partition") + $2))
  for other in "$here"/../*/partition; do
    [ "$(cat "$other")" = "$wanted" ] || continue
    echo "/dev/$(basename "$(dirname "$other")")"
    return 0
  done
  return 1
}

# The root that is still plain: the kernel's argument names its file system.
plain_root() {
  for word in $(cat /proc/cmdline); do
    case $word in root=UUID=*) blkid -c /dev/null -U "${"$"}{word#root=UUID=}" && return 0 ;; esac
  done
  return 1
}

# Sets $header and $root. The header gets its label together with everything else, so it is complete if it has one.
find_disk() {
  header=$(blkid -c /dev/null -o device -t "LABEL=$label" | head -n 1)
  if [ -n "$header" ]; then root=$(neighbour "$header" 1); return; fi
  root=$(plain_root) && header=$(neighbour "$root" -1)
}

# The last step writes the two copies by which a header is recognised, after everything else is on the disk.
make_header() {
  [ "$(cat "/sys/class/block/$(basename "$header")/size")" -le 65536 ] && [ -z "$(blkid -p -o value -s TYPE "$header")" ] ||
    { say "The partition $header is not the empty one for the encryption's header."; return 1; }
  rm -f "$state/header"
  cryptsetup reencrypt --encrypt --init-only --batch-mode --type luks2 --sector-size 512 --label "$label" \
    --resilience checksum --header "$state/header" --key-file "$key" "$root" &&
    dd if="$state/header" of="$header" bs=32k skip=1 seek=1 conv=fsync 2> /dev/null &&
    dd if="$state/header" of="$header" bs=32k count=1 conv=fsync 2> /dev/null &&
    rm -f "$state/header" && udevadm trigger --settle "$header"
}

# After the last block, cryptsetup needs a moment to remove its log. If the power fails then, all is encrypted, but cryptsetup
# would begin again at the first block, and encrypt everything twice.
is_unfinished() {
  cryptsetup luksDump "$header" > "$state/dump"
  grep -q online-reencrypt "$state/dump" || return 1
  grep -q in-reencryption "$state/dump" || ! sed -n '/^  0: crypt$/,/^$/p' "$state/dump" | grep -q 'length: (whole device)'
}

# If the power failed while blocks were written, cryptsetup refuses to go on until "repair" has written the rest of them.
# 0: everything is encrypted. 2: it is not the key.
finish_encryption() {
  is_unfinished || return 0
  say "The disk is being encrypted. If the power fails, that goes on at the next boot."
  if grep -q in-reencryption "$state/dump"; then
    cryptsetup repair --batch-mode --header "$header" --key-file "$key" "$root" || return
    is_unfinished || return 0
  fi
  cryptsetup reencrypt --resume-only --batch-mode --progress-frequency 10 --header "$header" --key-file "$key" "$root"
}

${growPartitionFunction}
# When sfdisk has written the partitions, udev makes the kernel read them again, unless a program has locked the disk. The root's
# partition would be gone for a moment, and cryptsetup would not find it.
open_with_key() {
  finish_encryption || return
  partition=$(readlink -f "/sys/class/block/$(basename "$root")")
  (
    flock 9
    grow_partition "$partition"
    cryptsetup open --type luks2 --header "$header" --key-file "$key" "$root" "$label"
  ) 9< "/dev/$(basename "$(dirname "$partition")")"
}

say_why_not() {
  if cryptsetup luksDump "$header" > /dev/null 2>&1; then
    say "The disk could not be opened, for the reason above. Enter the $secret to try again."
  else
    say "The header of the disk's encryption ($header) is damaged: restore its backup in another system."
  fi
}

ask() {
  answer=$(systemd-ask-password --timeout=0 "$1") || return
  printf %s "$answer" > "$key"
}

ask_new_passphrase() {
  while :; do
    ask "New passphrase for the disk of this machine:" || return
    first=$answer
    if [ "${"$"}{#first}" -lt 8 ]; then say "A passphrase has at least 8 characters."; continue; fi
    ask "The same passphrase again:" || return
    [ "$answer" != "$first" ] || return 0
    say "These were two different passphrases."
  done
}

open_by_question() {
  while :; do
    ask "The $secret of this machine's disk:" || return
    open_with_key
    case $? in
      0) return 0 ;;
      2) say "That is not the $secret." ;;
      *) say_why_not ;;
    esac
  done
}
`;

/** The functions of each way: a new key at the first boot, opening it later, and the end of the program. */
const ways = {
  passphrase: () => String.raw`
secret=passphrase
new_key() { ask_new_passphrase; }
open_again() { open_by_question; }
close_program() { :; }
`,
  tpm: () => keptKeyFunctions(tpmKeeper),
  tang: (server: TangServer) => keptKeyFunctions(tangKeeper(server)),
} as const;

const program = String.raw`
encrypt() { new_key && make_header && { open_with_key || { say_why_not; open_again; }; }; }

open_disk() {
  if [ "$(blkid -c /dev/null -o value -s LABEL "$header")" = "$label" ]; then open_again; else encrypt; fi
}

udevadm settle
waited=0
until find_disk; do
  waited=$((waited + 1))
  [ "$waited" -ne 30 ] || say "No disk has the system, or a whole header of its encryption: attach it, or restore the header's backup."
  sleep 1
done
open_disk
result=$?
rm -f "$key" "$state/header"
close_program || result=1
[ "$result" -eq 0 ] || say "The disk could not be opened. The messages above say why. Restart the machine to try again."
udevadm settle
exit "$result"
`;
