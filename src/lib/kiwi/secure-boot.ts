import type { ImageFacts } from "#lib/kiwi/facts";
import type { Part } from "#lib/kiwi/part";

/**
 * Places the signed programs of Debian for Secure Boot where its grub-install places them. KIWI takes them from there,
 * and writes the configuration of GRUB beside them. The signed GRUB reads its configuration only there.
 */
export const secureBootPart = ({ firmware }: Pick<ImageFacts, "firmware">): Part =>
  firmware === "uefi" ? { commands: ["place_signed_loaders"] } : {};

/** Functions of config.sh. */
export const secureBootFunctions = String.raw`
# is_signed FILE: whether it is a program for UEFI with a signature, by the fifth entry of its directory of data (PE, 64 bit).
is_signed() {
  local header size
  header=$(od -An -tu4 -j60 -N4 "$1")
  size=$(od -An -tu4 -j$((header + 172)) -N4 "$1")
  [ "$((size))" -gt 0 ]
}

# KIWI would find shim and GRUB in their packages, but of MokManager only the program that is not signed.
place_signed_loaders() {
  local folder=/boot/efi/EFI/debian kernel
  mkdir -p "$folder"
  cp /usr/lib/shim/shimx64.efi.signed "$folder/shimx64.efi"
  cp /usr/lib/shim/mmx64.efi.signed "$folder/mmx64.efi"
  cp /usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed "$folder/grubx64.efi"
  for kernel in /boot/vmlinuz-*; do
    is_signed "$kernel" || fail "The kernel $kernel is not signed, and a machine with Secure Boot would refuse it. Remove its package, or shim-signed."
  done
}
`;
