import type { ImageFacts } from "#lib/kiwi/facts";
import type { Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/** Settings that a KIWI description cannot fulfil. The build's log says what the user has to do. */
export function notesPart({ settings, packages }: Pick<ImageFacts, "settings" | "packages">): Part {
  const isPae = packages.some(({ name }) => /^kernel-.*pae/.test(name));
  const is32Bit = packages.some(({ arch }) => /^i[3-6]86$/.test(arch));
  const notes = [
    settings.paeEnabled && is32Bit && !isPae && "PAE is enabled: select a kernel that has it, such as kernel-pae",
    settings.xenHostModeEnabled &&
      "Xen host mode is enabled: to start the hypervisor, select its packages and make its boot entry the default",
    settings.liveInstallerEnabled &&
      "a live installer is enabled: select one as a package; for an installation without questions build the type oemiso",
    settings.webyastEnabled && "WebYaST is enabled: select its packages to install it",
  ];
  return { commands: notes.filter((text) => text !== false).map((text) => shellCommand("note", text)) };
}
