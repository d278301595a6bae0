// Not the contract's index, because the command line imports this file and would then include all of zod.
import { productOf } from "#lib/contract/image-formats";
import type { ImageType } from "#lib/contract/index";
import type { ImageFacts } from "#lib/kiwi/facts";
import type { Own } from "#lib/kiwi/import/own";
import { uploadsOrigin } from "#lib/kiwi/machine-repository";
import { linesOf, type Part } from "#lib/kiwi/part";

interface SelfUpdating {
  imageType: ImageType;
  settings: Pick<ImageFacts["settings"], "automaticUpdates">;
}

/** Whether a machine of the image updates itself. Without a disk, each boot would undo the updates. */
export const updatesItself = ({ imageType, settings }: SelfUpdating): boolean =>
  settings.automaticUpdates !== "none" && productOf(imageType).hasDisk;

/** Read after the package's 20auto-upgrades and 50unattended-upgrades, which its updates may change. */
const configurationFile = "root/etc/apt/apt.conf.d/95kiln-updates";

/** Configures Debian's unattended-upgrades. apt's own timers start it once a day. */
export function automaticUpdatesPart(facts: Pick<ImageFacts, "imageType" | "settings" | "debian" | "uploads">): Part {
  if (!updatesItself(facts)) return {};
  const { updatesRebootAt } = facts.settings;
  return {
    files: {
      [configurationFile]: linesOf(
        "// Written by Kiln. A file with a later name can change it.",
        'APT::Periodic::Update-Package-Lists "1";',
        'APT::Periodic::Unattended-Upgrade "1";',
        "// Updates come only from these, whatever the files before list.",
        "#clear Unattended-Upgrade::Allowed-Origins;",
        "#clear Unattended-Upgrade::Origins-Pattern;",
        "Unattended-Upgrade::Origins-Pattern {",
        ...originsOf(facts).map((origin) => `  "${origin}";`),
        "};",
        `Unattended-Upgrade::Automatic-Reboot "${updatesRebootAt !== ""}";`,
        ...(updatesRebootAt === "" ? [] : [`Unattended-Upgrade::Automatic-Reboot-Time "${updatesRebootAt}";`]),
      ),
    },
  };
}

const everyOrigin = "origin=*";

/** A suite of Debian and its index have the same codename, such as `bookworm-security`. */
const originsOf = ({ settings, debian, uploads }: Pick<ImageFacts, "settings" | "debian" | "uploads">): string[] =>
  settings.automaticUpdates === "all"
    ? [everyOrigin]
    : [
        ...(debian?.sources ?? []).filter(({ isSecurity }) => isSecurity).map(({ suite }) => `codename=${suite}`),
        ...(uploads ? [`origin=${uploadsOrigin}`] : []),
      ];

export function readAutomaticUpdates({ textAt }: Own) {
  const text = textAt(configurationFile);
  if (text === undefined) return { automatic_updates: "none", updates_reboot_at: "" } as const;
  return {
    automatic_updates: text.includes(`"${everyOrigin}"`) ? "all" : "security",
    updates_reboot_at: /Reboot-Time "([\d:]+)"/.exec(text)?.[1] ?? "",
  } as const;
}
