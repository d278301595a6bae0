/** The keystrokes that write a text, as X11 keysyms (keysymdef.h). */
export interface Stroke {
  keysym: number;
  /**
   * Whether Shift is held. QEMU maps a letter's keysym to its key, which without Shift writes the lower-case letter.
   */
  shift: boolean;
}

// A Latin-1 character is its own keysym, others are added to this number.
const unicodeKeysyms = 0x01000000;
const named: Readonly<Record<string, number>> = { "\b": 0xff08, "\t": 0xff09, "\n": 0xff0d, "\u001b": 0xff1b };
const shifted = /[A-Z~!@#$%^&*()_+{}|:"<>?]/;

/** The keystrokes of a text on a US keyboard. */
export const strokesOf = (text: string): Stroke[] =>
  [...text.replaceAll(/\r\n?/g, "\n")].map((character) => ({
    keysym: named[character] ?? keysymOf(character),
    shift: shifted.test(character),
  }));

function keysymOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? point : unicodeKeysyms + point;
}
