/**
 * Functions of the program that opens the disk (open-disk.ts), for a disk whose key is kept by a TPM or a server. Its
 * only key is a recovery key, which people can type, and which the keeper seals: during the encryption the header can
 * have no second key, and the encryption must continue after a power cut without a person.
 *
 * The keeper has these functions: `has_keeper`, `wrap_key` from $key into $state/sealed, `unwrap_key` for the reverse,
 * and
 * `close_keeper`. Its name is $keeper, and its messages are $cannot_keep, $no_keeper (a beginning), $keeper_refuses and
 * $keeper_fails.
 */
export const keptKeyFunctions = (keeper: string): string => `${keeper}${functions}`;

const functions = String.raw`
secret="passphrase or recovery key"

# The sealed key is in the partition of the header, in the 64 KiB after its first 17 MiB. The header has 16 MiB.
seal_key() {
  rm -f "$state/sealed"
  wrap_key && dd if="$state/sealed" of="$header" bs=64k seek=272 conv=sync,fsync 2> /dev/null
}

unseal_key() {
  rm -f "$key"
  dd if="$header" bs=64k skip=272 count=1 2> /dev/null | tr -d '\0' > "$state/sealed"
  [ -s "$state/sealed" ] && unwrap_key 2> /dev/null
}

# 64 letters of 16 are 256 bits. Every keyboard has these letters at the same place.
make_recovery_key() { tr -dc cbdefghijklnrtuv < /dev/random | head -c 64 | sed 's/.\{8\}/&-/g; s/-$//' | tr -d '\n' > "$key"; }

new_key() {
  if has_keeper && make_recovery_key && seal_key; then
    say "The recovery key of this machine's disk, which opens it if $keeper does not:"
    say "$(cat "$key")"
    systemd-ask-password --timeout=60 "Write it down now: it is not shown again. Then press Enter. Without it, the machine goes on in a minute." > /dev/null
    return 0
  fi
  say "$cannot_keep"
  ask_new_passphrase
}

# A key that a user has typed is sealed again, because the machine has changed or had no keeper before.
open_again() {
  if ! has_keeper; then
    say "$no_keeper, so its disk needs the $secret."
  else
    unseal_key && open_with_key && return
    say "$keeper_refuses"
  fi
  open_by_question || return
  ! has_keeper || seal_key || say "$keeper_fails"
}

close_program() {
  rm -f "$state/sealed"
  close_keeper
}
`;
