import type { ImageFacts } from "#kiwi/facts";
import type { Part } from "#kiwi/part";
import { shellCommand } from "#kiwi/shell-quote";

/** Settings that need more than a description can give: the build's log says what is left to do. */
export function notesPart({ settings, packages }: Pick<ImageFacts, "settings" | "packages">): Part {
  const isPae = packages.some(({ name }) => /^kernel-.*pae/.test(name));
  const is32Bit = packages.some(({ arch }) => /^i[3-6]86$/.test(arch));
  const notes = [
    settings.paeEnabled && is32Bit && !isPae && "PAE is wanted: select a kernel that has it, such as kernel-pae",
    settings.xenHostModeEnabled &&
      "Xen host mode is wanted: the hypervisor is started when its packages are selected and its boot entry is the default",
    settings.liveInstallerEnabled &&
      "a live installer is wanted: select one as a package; for an installation without questions build the type oemiso",
    settings.webyastEnabled && "WebYaST is wanted: it is there when its packages are selected",
  ];
  return { commands: notes.filter((text) => text !== false).map((text) => shellCommand("note", text)) };
}
