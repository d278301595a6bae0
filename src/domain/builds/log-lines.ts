import { phases, type Phase } from "#lib/contract/index";

/** KIWI's warnings about its own work. Successful builds have them too, and the owner cannot do anything about them. */
const noise: readonly { pattern: RegExp; why: string }[] = [
  { pattern: /^Path \S* not a mountpoint/, why: "KIWI unmounts folders that it did not mount." },
  { pattern: /^remove_hierarchy: path \S* is protected/, why: "KIWI keeps folders of the image when it cleans up." },
  { pattern: /^chkstat not found in image\b/, why: "Only openSUSE has this program." },
  { pattern: /^Could not detect dracut output file format/, why: "KIWI then takes dracut's default name." },
  { pattern: /^Using default initrd file name format/, why: "The same." },
  {
    pattern: /^Could not parse systemd-firstboot output/,
    why: "KIWI then looks for another way, or says that it has none.",
  },
  { pattern: /^debootstrap will only be called once\b/, why: "The prepared root has had it already." },
  { pattern: /^No explicit root= cmdline provided/, why: "KIWI adds it." },
];

export type LineTone = "bad" | "warn";

const record = /^\[ ([A-Z]+) *\]: [\d:]+ \| (.*)$/;

/** A note from the appliance's own config.sh about something that the image cannot do. */
const note = /^kiln: note: /;

/** The severity of a line about the appliance, from KIWI's levels, our notes, and the messages of package managers. */
export function toneOf(line: string): LineTone | undefined {
  const [, level, text = line] = record.exec(line) ?? [];
  if (level === "ERROR" || /^error:/i.test(line)) return "bad";
  const warns = level === "WARNING" || note.test(text) || /^warning:/i.test(line);
  return warns && !noise.some(({ pattern }) => pattern.test(text)) ? "warn" : undefined;
}

/** The text of a finding, without its level and time. */
export function wordsOf(line: string): string {
  const [, , text = line] = record.exec(line) ?? [];
  return text.replace(note, "");
}

/** The level of a record. Undefined for a line that continues the previous record. */
export const levelOf = (line: string): string | undefined => record.exec(line)?.[1];

/** The phase that begins with this line. The agent writes such a line for each phase. */
export function phaseIn(line: string): Phase | undefined {
  const [, , text] = record.exec(line) ?? [];
  return phases.find((phase) => text === `Kiln: ${phase}`);
}
