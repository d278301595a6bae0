// Not the contract's index, because the command line imports this file and would then include all of zod.
import { imageFormats } from "#lib/contract/image-formats";
import type { ImageType } from "#lib/contract/index";
import type { FirstBootChoice } from "#lib/kiwi/first-boot";
import type { Own } from "#lib/kiwi/import/own";
import { linesOf, staging, type Part } from "#lib/kiwi/part";

/** Whether Ignition runs in the image. Its program knows machines by their platform, so it needs one that it can find. */
export const hasIgnition = ({ imageType, settings }: FirstBootChoice): boolean =>
  settings.firstBoot === "ignition" && imageFormats[imageType].ignition !== undefined;

/** dracut reads it. The drop-in of Ignition's service must be in the initial archive, too. */
const configurationFile = "root/etc/dracut.conf.d/50-kiln-ignition.conf";

const dropIn = "etc/systemd/system/ignition-files.service.d/kiln.conf";

/**
 * Runs Ignition in the initial archive at the first boot. Debian's program always labels its files for SELinux, and
 * fails without a policy, so the packages include one. No kernel of Debian uses it without `security=selinux`.
 */
export function ignitionPart(choice: FirstBootChoice): Part {
  if (!hasIgnition(choice)) return {};
  return {
    files: {
      [configurationFile]: linesOf(
        'add_dracutmodules+=" ignition systemd-networkd "',
        'add_drivers+=" qemu_fw_cfg "',
        `install_items+=" /${dropIn} "`,
      ),
      [`root/${dropIn}`]: afterFiles,
      "root/etc/grub.d/06_kiln_ignition": grubVariable(choice.imageType),
      "root/etc/default/grub.d/kiln-ignition.cfg":
        String.raw`GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX \$ignition"` + "\n",
      "root/boot/ignition.firstboot": "",
      [`${staging}/units/kiln-ignition-done.service`]: done,
    },
    commands: ["install_unit kiln-ignition-done.service"],
  };
}

export const readIgnition = ({ textAt }: Own) =>
  textAt(configurationFile) === undefined ? {} : { first_boot: "ignition" };

/**
 * SSH keys go where every SSH server of Debian looks. Ignition leaves it to systemd to enable its units. systemd would
 * do so only with all other units of the image, as if none had ever been disabled.
 */
const afterFiles = linesOf(
  "[Service]",
  "Environment=IGNITION_WRITE_AUTHORIZED_KEYS_FRAGMENT=false",
  `ExecStartPost=/bin/sh -c 'presets=/sysroot/etc/systemd/system-preset/20-ignition.preset; [ ! -e $$presets ] || ` +
    `while read -r _ unit _; do systemctl --root=/sysroot preset "$$unit"; done < $$presets'`,
);

/** The file is on a partition of its own if the image has one for /boot. */
const grubVariable = (imageType: ImageType): string => String.raw`#!/bin/sh
# Starts Ignition while its file exists. kiln-ignition-done.service removes it.
cat << 'EOF'
set ignition=""
if [ -f /boot/ignition.firstboot -o -f /ignition.firstboot ]; then
  set ignition="ignition.firstboot ignition.platform.id=${imageFormats[imageType].ignition}"
fi
EOF
`;

const done = linesOf(
  "[Unit]",
  "Description=End the first boot by Ignition",
  "ConditionKernelCommandLine=ignition.firstboot",
  "RequiresMountsFor=/boot",
  "",
  "[Service]",
  "Type=oneshot",
  "ExecStart=/bin/rm -f /boot/ignition.firstboot",
  "",
  "[Install]",
  "WantedBy=multi-user.target",
);
