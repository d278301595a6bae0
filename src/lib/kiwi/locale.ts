import type { ImageFacts } from "#lib/kiwi/facts";
import { keymapOf } from "#lib/kiwi/keytables";
import { linesOf, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/**
 * Language, keyboard and time zone. KIWI sets them with systemd-firstboot, and sets nothing if the image lacks it. So
 * Kiln writes them too: in systemd's files and, if they exist, in SUSE's older ones.
 */
export function localePart({ locale: { language, keyboardLayout, timezone } }: Pick<ImageFacts, "locale">): Part {
  const keymap = keymapOf(keyboardLayout);
  return {
    files: {
      "root/etc/locale.conf": linesOf(`LANG=${language}`),
      "root/etc/vconsole.conf": linesOf(`KEYMAP=${keymap}`),
    },
    commands: [
      shellCommand("ln", "-sf", `/usr/share/zoneinfo/${timezone}`, "/etc/localtime"),
      `[ -e ${shellCommand(`/usr/share/zoneinfo/${timezone}`)} ] || note 'the image has no time zones (tzdata): its clock shows UTC'`,
      shellCommand("set_sysconfig", "/etc/sysconfig/language", "RC_LANG", language),
      shellCommand("set_sysconfig", "/etc/sysconfig/keyboard", "KEYTABLE", keymap),
      shellCommand("set_sysconfig", "/etc/sysconfig/clock", "TIMEZONE", timezone),
    ],
  };
}
