/**
 * Functions of the program that opens the disk (open-disk.ts), for a disk that the TPM opens. Its one key is a recovery key,
 * which people can type. The TPM seals it: a header that is being encrypted can have no second key, and the encryption must
 * go on after a power cut although nobody is there.
 */
export const tpmFunctions = String.raw`
secret="passphrase or recovery key"
# The TPM gives the key only if these registers are as they were: boot loaders (4), Secure Boot (7), commands of GRUB and
# arguments of the kernel (8), files that GRUB read (9), and that nobody has opened the disk yet (15).
registers=4+7+8+9+15
export TPM2TOOLS_TCTI=device:/dev/tpmrm0

# Without UEFI, GRUB measures nothing.
has_tpm() { [ -e /dev/tpmrm0 ] && [ -d /sys/firmware/efi ]; }

# The sealed key is in the partition of the header, in the 64 KiB after its first 17 MiB. The header has 16 MiB.
seal_key() {
  rm -f "$state/sealed"
  systemd-creds encrypt --with-key=tpm2 --tpm2-device=auto --tpm2-pcrs=$registers --name=$label "$key" "$state/sealed" &&
    dd if="$state/sealed" of="$header" bs=64k seek=272 conv=sync,fsync 2> /dev/null
}

unseal_key() {
  rm -f "$key"
  dd if="$header" bs=64k skip=272 count=1 2> /dev/null | tr -d '\0' > "$state/sealed"
  [ -s "$state/sealed" ] && systemd-creds decrypt --name=$label "$state/sealed" "$key" 2> /dev/null
}

# 64 letters of 16 are 256 bits. Every keyboard has these letters at the same place.
make_recovery_key() { tr -dc cbdefghijklnrtuv < /dev/random | head -c 64 | sed 's/.\{8\}/&-/g; s/-$//' | tr -d '\n' > "$key"; }

new_key() {
  if has_tpm && make_recovery_key && seal_key; then
    say "The recovery key of this machine's disk, which opens it if the TPM does not:"
    say "$(cat "$key")"
    systemd-ask-password --timeout=60 "Write it down now: it is not shown again. Then press Enter. Without it, the machine goes on in a minute." > /dev/null
    return 0
  fi
  say "This machine has no TPM 2.0 that can keep the disk's key, so it needs a passphrase."
  ask_new_passphrase
}

# A key that somebody has typed is sealed again: for a changed machine, or for one that had no TPM.
open_again() {
  if ! has_tpm; then
    say "This machine has no TPM 2.0, or did not start by UEFI, so its disk needs the $secret."
  else
    unseal_key && open_with_key && return
    say "The TPM does not open the disk: it is another one, or the machine did not start as before."
  fi
  open_by_question || return
  ! has_tpm || seal_key || say "The TPM could not keep the disk's key."
}

# Whatever runs after this program gets no key from the TPM, even if it is somebody else's root.
close_program() {
  rm -f "$state/sealed"
  ! has_tpm || echo locked | tpm2_pcrevent 15 > /dev/null
}
`;
