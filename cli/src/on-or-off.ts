import { Complaint } from "./complaint.ts";

const switches: Readonly<Record<string, boolean>> = { on: true, off: false };

/** Whether a word turns something on. `what` is the parameter or option that has the word. */
export function onOrOff(word: string, what: string): boolean {
  const isOn = switches[word];
  if (isOn === undefined) throw new Complaint("misused", `${what} is on or off, not ${word}.`, "Use one of them.");
  return isOn;
}
