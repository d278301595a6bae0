import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/**
 * Programs that start at every boot, each as its user: as systemd units, or from a script if the image has a different
 * init.
 */
export function autostartPart({ autostarts }: Pick<ImageFacts, "autostarts">): Part {
  const enabled = autostarts.filter((one) => one.enabled).map((one, at) => ({ ...one, number: at + 1 }));
  if (enabled.length === 0) return {};
  return {
    files: Object.fromEntries(
      enabled.flatMap(({ command, description, user, number }) => [
        [programOf(number), `#!/bin/sh\n${command}\n`],
        [unitOf(number), unit({ description: description || command, user, number })],
        [`root/usr/lib/kiln/autostarts/${number}.user`, linesOf(user)],
      ]),
    ),
    commands: enabled.map(({ number }) => shellCommand("install_unit", `kiln-autostart-${number}.service`)),
  };
}

const programOf = (number: number) => `root/usr/lib/kiln/autostarts/${number}`;
const unitOf = (number: number) => `root/image/kiln/units/kiln-autostart-${number}.service`;

const unit = ({ description, user, number }: { description: string; user: string; number: number }) =>
  linesOf(
    "[Unit]",
    // In a unit file, % starts a specifier and a backslash at the end of a line continues it.
    `Description=${description.replaceAll("%", "%%").replaceAll("\\", "/")}`,
    "After=network.target kiln-after-services.service",
    "",
    "[Service]",
    `User=${user}`,
    `ExecStart=/usr/lib/kiln/autostarts/${number}`,
    "",
    "[Install]",
    "WantedBy=multi-user.target",
  );
