import type { FrozenKey } from "#lib/contract/index";
import { imageFormats } from "#lib/contract/image-formats";
import type { AptSource } from "#lib/kiwi/debian-facts";
import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";
import { xkbOf } from "#lib/kiwi/xkb-layouts";

/**
 * Prepares a Debian system before all other configuration. Undoes what debootstrap copied from the build host. Sets
 * locale and keyboard, which KIWI cannot set there, the appliance's repositories and keys, and how the initial RAM disk
 * is packed.
 */
export function debianPart({ debian, locale, imageType }: Pick<ImageFacts, "debian" | "locale" | "imageType">): Part {
  if (!debian) return {};
  return {
    files: {
      "post_bootstrap.sh": postBootstrap,
      "root/etc/apt/sources.list": linesOf(...debian.sources.map(sourceLine)),
      "root/etc/default/keyboard": keyboardFile(locale.keyboardLayout),
      // Otherwise kernel messages interrupt anyone who is logged in at a console.
      "root/etc/sysctl.d/20-kiln-console.conf": linesOf("kernel.printk = 4 4 1 7"),
      ...(imageFormats[imageType].product === "installer" && installerFiles),
      ...keyFiles("/etc/apt/trusted.gpg.d", debian.keys),
      ...keyFiles(
        keyrings,
        debian.sources.flatMap(({ keys }) => keys),
      ),
    },
    commands: [
      "take_back_debian",
      "configure_initial_archive",
      shellCommand("set_debian_timezone", locale.timezone),
      shellCommand("set_debian_locale", locale.language),
      "set_debian_keyboard",
    ],
  };
}

const installerConfiguration = "/etc/systemd/system.conf.d/20-kiln-installer.conf";

/**
 * KIWI's installer writes to /usr of the initial RAM disk, which the systemd of Debian 13 makes read-only by default.
 * In a system, it does not by default.
 */
const installerFiles = {
  [`root${installerConfiguration}`]: linesOf("[Manager]", "ProtectSystem=no"),
  "root/etc/dracut.conf.d/20-kiln-installer.conf": linesOf(`install_items+=" ${installerConfiguration} "`),
};

/**
 * Comes at the very end, and removes the records of this build, which would make each image different (decision 28).
 */
export const debianEndPart = ({ debian }: Pick<ImageFacts, "debian">): Part =>
  debian ? { commands: ["forget_debian_build"] } : {};

/** Not trusted.gpg.d, whose keys may sign the packages of every source, Debian's own among them. */
const keyrings = "/etc/apt/keyrings";

const keyFile = (directory: string, { fingerprint }: FrozenKey) => `${directory}/kiln-${fingerprint}.asc`;

const keyFiles = (directory: string, keys: readonly FrozenKey[]): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [`root${keyFile(directory, key)}`, key.armour]));

function sourceLine({ url, suite, components, isSigned, keys, isExpired }: AptSource): string {
  const options = [
    ...(isSigned ? [] : ["trusted=yes"]),
    ...(keys.length === 0 ? [] : [`signed-by=${keys.map((key) => keyFile(keyrings, key)).join(",")}`]),
    ...(isExpired ? ["check-valid-until=no"] : []),
  ];
  return ["deb", ...(options.length === 0 ? [] : [`[${options.join(" ")}]`]), url, suite, ...components].join(" ");
}

function keyboardFile(name: string): string {
  const [layout, variant = ""] = xkbOf(name);
  const values = { XKBMODEL: "pc105", XKBLAYOUT: layout, XKBVARIANT: variant, XKBOPTIONS: "", BACKSPACE: "guess" };
  return linesOf(...Object.entries(values).map(([variable, value]) => `${variable}="${value}"`));
}

/**
 * KIWI runs it before it installs the other packages. They then start no services, and dpkg does not wait for the disk.
 */
const postBootstrap = String.raw`#!/bin/sh
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/kiln
`;

/** Functions of config.sh. */
export const debianFunctions = String.raw`
# debootstrap gives the image the build host's name. Debian's installer writes /etc/hosts, and no package does.
take_back_debian() {
  rm -f /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/kiln /etc/hostname
  [ "$(cat /etc/hosts)" = "127.0.0.1 localhost" ] || return 0
  printf '%s\n' '::1 localhost ip6-localhost ip6-loopback' 'ff02::1 ip6-allnodes' 'ff02::2 ip6-allrouters' >> /etc/hosts
}

# Debian's dracut packs with gzip -9, which takes minutes. KIWI's modules of dracut are written for bash. KIWI asks dracut to be verbose,
# and then it unpacks what it has packed to list it, unless it logs less to begin with. And it keeps the times of files.
configure_initial_archive() {
  has dracut || return 0
  local compress='gzip -n -1'
  ! has zstd || compress='zstd -3 -q -T0'
  mkdir -p /etc/dracut.conf.d
  printf '%s\n' "compress=\"$compress\"" 'omit_dracutmodules+=" dash "' 'add_dracutmodules+=" bash "' 'stdloglvl=3' 'reproducible="yes"' > /etc/dracut.conf.d/10-kiln.conf
  [ -d /usr/lib/dracut/modules.d/90livenet ] && has curl || return 0
  # A root from a web server. networkd, which dracut prefers, never fetches one in Debian 12. The other way needs dhclient.
  local network=systemd-networkd
  ! has dhclient || network=network-legacy
  echo "add_dracutmodules+=\" $network livenet \"" > /etc/dracut.conf.d/20-kiln-net.conf
}

set_debian_timezone() { [ ! -e "/usr/share/zoneinfo/$1" ] || echo "$1" > /etc/timezone; }

# Debian has no locale until it is generated.
set_debian_locale() {
  local language=$1
  if has locale-gen; then
    echo "$1 UTF-8" > /etc/locale.gen
    # It succeeds even if there is no such locale.
    locale-gen > /dev/null
    [ "$(LC_ALL=$1 locale charmap 2> /dev/null)" = UTF-8 ] || fail "Debian has no locale $1. Choose another language."
  else
    language=C.UTF-8
    note "the image has no locales (package locales): its language is C.UTF-8"
  fi
  echo "LANG=$language" > /etc/locale.conf
  [ -L /etc/default/locale ] || echo "LANG=$language" > /etc/default/locale
}

# The console reads what is stored here, and makes it at each boot if it is not there.
set_debian_keyboard() {
  if has setupcon; then setupcon --save-only --force
  else note "the image has no console-setup: its console has the US keyboard"
  fi
}

forget_debian_build() {
  apt-get clean
  rm -rf /var/lib/apt/lists/* /var/log/apt/*
  rm -f /var/cache/apt/*.bin /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old
  rm -f /var/log/dpkg.log /var/log/bootstrap.log /var/log/alternatives.log
}
`;

/**
 * Places the signed programs of Debian for Secure Boot where its grub-install places them. KIWI takes them from there,
 * and writes the configuration of GRUB next to them. The signed GRUB reads its configuration only there.
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
