interface Source {
  name: string;
  version: string;
}

/**
 * The source package that advisories are about. Debian signs kernels and GRUB in packages of another source, whose version
 * names that of the first: `linux-signed-amd64 6.1.158+1` is `linux 6.1.158-1`, and `grub-efi-amd64-signed
 * 1+2.06+13+deb12u1` is `grub2 2.06-13+deb12u1`.
 */
export function trackedSource({ name, version }: Source): Source {
  if (/^linux-signed-[a-z0-9]+$/.test(name)) return { name: "linux", version: version.replace("+", "-") };
  if (/^grub-efi-[a-z0-9]+-signed$/.test(name))
    return { name: "grub2", version: version.replace(/^\d+\+/, "").replace("+", "-") };
  return { name, version };
}
