import type { ImageFacts } from "#lib/kiwi/facts";
import { argumentsOf, type Own } from "#lib/kiwi/import/own";
import type { Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/** Settings that a KIWI description cannot express. The build's log states what the user has to do. */
export function notesPart({ settings, packages }: Pick<ImageFacts, "settings" | "packages">): Part {
  const isPae = packages.some(({ name }) => /^kernel-.*pae/.test(name));
  const is32Bit = packages.some(({ arch }) => /^i[3-6]86$/.test(arch));
  const notes = [
    settings.paeEnabled && is32Bit && !isPae && "PAE is enabled: select a kernel that has it, such as kernel-pae",
    settings.xenHostModeEnabled && xenNote,
    settings.liveInstallerEnabled && installerNote,
    settings.webyastEnabled && webyastNote,
  ];
  return { commands: notes.filter((text) => text !== false).map((text) => shellCommand("note", text)) };
}

const xenNote =
  "Xen host mode is enabled: to start the hypervisor, select its packages and make its boot entry the default";
const installerNote =
  "a live installer is enabled: select one as a package; for an installation without questions build the type oemiso";
const webyastNote = "WebYaST is enabled: select its packages to install it";

export function readNotes({ commands }: Own) {
  const notes = argumentsOf(commands, "note").map(([text]) => text);
  return {
    xen_host_mode_enabled: notes.includes(xenNote),
    live_installer_enabled: notes.includes(installerNote),
    webyast_enabled: notes.includes(webyastNote),
  };
}
