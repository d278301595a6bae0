// X11 keysyms (keysymdef.h): a Latin-1 character is its own keysym, others are added to this number.
const unicodeKeysyms = 0x01000000;
const named: Record<string, number> = { Backspace: 0xff08, Tab: 0xff09, Enter: 0xff0d, Escape: 0xff1b };

/**
 * Sends what a touch screen's keyboard types into a text field to the machine. A space stays in the field, because some
 * keyboards report no Backspace in an empty one.
 */
export function typeFrom(field: HTMLTextAreaElement, sendKey: (keysym: number) => void): void {
  field.value = " ";
  field.addEventListener("keydown", (event) => {
    const keysym = named[event.key];
    if (keysym === undefined) return;
    event.preventDefault();
    sendKey(keysym);
  });
  field.addEventListener("input", () => {
    const text = field.value;
    if (text === "") sendKey(0xff08);
    for (const character of text.slice(1)) sendKey(keysymOf(character));
    field.value = " ";
  });
}

function keysymOf(character: string): number {
  if (character === "\n") return 0xff0d;
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? point : unicodeKeysyms + point;
}
