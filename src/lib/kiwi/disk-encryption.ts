// Not the contract's index, because the command line imports this file and would then include all of zod.
import { imageFormats } from "#lib/contract/image-formats";
import type { Configuration } from "#lib/configuration/stored";
import type { ImageType } from "#lib/contract/index";
import { openDisk } from "#lib/kiwi/open-disk";
import type { Own } from "#lib/kiwi/import/own";
import { readTangServer } from "#lib/kiwi/tang-key";
import { linesOf, type Part } from "#lib/kiwi/part";

interface Encrypting {
  imageType: ImageType;
  settings: Pick<Configuration["settings"], "diskEncryption">;
}

interface EncryptingFacts extends Encrypting {
  settings: Pick<Configuration["settings"], "diskEncryption" | "tangServer" | "tangThumbprint">;
}

/** Whether a machine of the image encrypts its root at the first boot. An install medium writes its own partitions. */
export const encryptsDisk = ({ imageType, settings }: Encrypting): boolean =>
  settings.diskEncryption !== "none" && imageFormats[imageType].product === "disk";

/** The programs for keys that are kept by a TPM or a server (kept-key.ts). */
const keptWays = ["tpm", "tang"] as const;
export type KeptWay = (typeof keptWays)[number];

/** Whether a machine unlocks its disk without a person. */
export const opensItself = (way: Configuration["settings"]["diskEncryption"]): way is KeptWay =>
  keptWays.some((kept) => kept === way);

/**
 * The attributes for KIWI's `<type>`: a partition from which GRUB boots, and an empty one (in MB) for the header, which
 * has 16 MiB.
 */
export const encryptedDisk = { bootpartition: "true", spare_part: "20" } as const;

const moduleFolder = "root/usr/lib/dracut/modules.d/91kiln-disk";
const programFile = `${moduleFolder}/disk.sh`;
const setupFile = `${moduleFolder}/module-setup.sh`;

/** A module of dracut whose unit encrypts and opens the root, before anything mounts it. */
export function diskEncryptionPart(facts: EncryptingFacts): Part {
  const { diskEncryption: way, tangServer: url, tangThumbprint: thumbprint } = facts.settings;
  if (way === "none" || !encryptsDisk(facts)) return {};
  return {
    files: {
      [programFile]: openDisk(way, { url, thumbprint }),
      [setupFile]: moduleSetup(parts[way]),
      [`${moduleFolder}/kiln-disk.service`]: unit,
      "root/etc/dracut.conf.d/30-kiln-disk.conf": 'add_dracutmodules+=" kiln-disk "\n',
    },
  };
}

export function readDiskEncryption({ textAt }: Own) {
  const setup = textAt(setupFile);
  const { url, thumbprint } = readTangServer(textAt(programFile) ?? "");
  return { disk_encryption: wayIn(setup), tang_server: url, tang_thumbprint: thumbprint };
}

type Way = Exclude<Configuration["settings"]["diskEncryption"], "none">;

function wayIn(setup: string | undefined): Way | "none" {
  if (setup === undefined) return "none";
  const kept = keptWays.find((way) => setup.includes(parts[way].modules));
  return kept ?? "passphrase";
}

/**
 * The additions to the initial archive, by the way to open the disk. dracut's own modules add the libraries, drivers
 * and rules for a TPM, and the drivers and the manager of a network.
 */
const parts: Readonly<Record<Way, { modules: string; programs: string; install?: string }>> = {
  passphrase: { modules: "", programs: "" },
  tpm: { modules: " tpm2-tss", programs: " systemd-creds tpm2_pcrevent tr" },
  tang: {
    modules: " bash systemd-networkd",
    programs: " clevis clevis-encrypt-tang clevis-decrypt clevis-decrypt-tang jose curl ip systemctl timeout tr",
    install: String.raw`
  mkdir -p "$initdir/etc/systemd/network"
  printf '[Match]\nKind=!*\nType=!loopback\n[Network]\nDHCP=yes\n' > "$initdir/etc/systemd/network/50-kiln-disk.network"`,
  },
};

/** After a kernel update, dracut packs only what this machine seems to need, and it does not know about the header. */
const moduleSetup = ({ modules, programs, install = "" }: (typeof parts)[Way]) => String.raw`#!/bin/bash
# Written by Kiln: opens the encrypted root.

check() { return 0; }

depends() { echo "dm crypt systemd-ask-password${modules}"; }

installkernel() {
  hostonly="" instmods dm_crypt algif_skcipher xts aes_generic aesni_intel sha256_generic sha512_generic
}

install() {
  inst_multiple cryptsetup blkid udevadm flock sfdisk partx sed grep head dd cat readlink basename dirname sleep rm mkdir sync${programs}
  inst_simple "$moddir/disk.sh" /usr/lib/kiln/disk
  inst_simple "$moddir/kiln-disk.service" "$systemdsystemunitdir/kiln-disk.service"
  mkdir -p "$initdir$systemdsystemunitdir/initrd-root-fs.target.requires" "$initdir$systemdsystemunitdir/sysroot.mount.d"
  ln -s ../kiln-disk.service "$initdir$systemdsystemunitdir/initrd-root-fs.target.requires/kiln-disk.service"
  printf '[Unit]\nRequires=kiln-disk.service\nAfter=kiln-disk.service\n' > "$initdir$systemdsystemunitdir/sysroot.mount.d/kiln-disk.conf"${install}
}
`;

/**
 * The unit finishes before anything reads the root, which would otherwise be found unencrypted at the first boot, and
 * mounted. The unit outlives the initial archive, because the mount requires it: otherwise systemd 252 would unmount
 * the root together with the unit.
 */
const unit = linesOf(
  "[Unit]",
  "Description=Encryption of the disk",
  "DefaultDependencies=no",
  "Wants=systemd-udev-trigger.service systemd-ask-password-console.path local-fs-pre.target",
  "After=systemd-udev-trigger.service systemd-modules-load.service systemd-vconsole-setup.service systemd-ask-password-console.path",
  "Before=local-fs-pre.target systemd-fsck-root.service sysroot.mount dracut-initqueue.service dracut-pre-mount.service",
  "Conflicts=shutdown.target",
  "Before=shutdown.target",
  "",
  "[Service]",
  "Type=oneshot",
  "RemainAfterExit=yes",
  "TimeoutStartSec=infinity",
  "KeyringMode=shared",
  "StandardOutput=journal+console",
  "StandardError=journal+console",
  "ExecStart=/usr/lib/kiln/disk",
);
