/** The TPM as the keeper of the disk's key (kept-key.ts). */
export const tpmKeeper = String.raw`
keeper="the TPM"
cannot_keep="This machine has no TPM 2.0 that can keep the disk's key, so it needs a passphrase."
no_keeper="This machine has no TPM 2.0, or did not start by UEFI"
keeper_refuses="The TPM does not open the disk: it is another one, or the machine did not start as before."
keeper_fails="The TPM could not keep the disk's key."

# The TPM gives the key only if these registers are as they were: boot loaders (4), Secure Boot (7), commands of GRUB and
# arguments of the kernel (8), files that GRUB read (9), and that nobody has opened the disk yet (15).
registers=4+7+8+9+15
export TPM2TOOLS_TCTI=device:/dev/tpmrm0

# Without UEFI, GRUB measures nothing.
has_keeper() { [ -e /dev/tpmrm0 ] && [ -d /sys/firmware/efi ]; }
wrap_key() { systemd-creds encrypt --with-key=tpm2 --tpm2-device=auto --tpm2-pcrs=$registers --name=$label "$key" "$state/sealed"; }
unwrap_key() { systemd-creds decrypt --name=$label "$state/sealed" "$key"; }

# After this, the TPM gives the key to no other program, even if that program comes from a different root file system.
close_keeper() { ! has_keeper || echo locked | tpm2_pcrevent 15 > /dev/null; }
`;
