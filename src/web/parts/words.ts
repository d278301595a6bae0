import { architectures, imageFormats, type Arch, type Firmware, type ImageType } from "#lib/contract/index";
import { counted, number } from "#lib/words/counted";

/** How pages write numbers and times. */

export { counted, number };

/** Cuts a text to this many characters, including an ellipsis. Half an emoji would break `encodeURIComponent`. */
export const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text
        .slice(0, most - 1)
        .replace(/[\uD800-\uDBFF]$/, "")
        .trimEnd()}…`;

const mega = 1_000_000;

/** "1,904 MB". Below 10 MB with one decimal, and below 1 MB in kB. */
export function size(bytes: number): string {
  if (bytes >= 10 * mega) return `${number(Math.round(bytes / mega))} MB`;
  if (bytes >= mega) return `${(bytes / mega).toFixed(1)} MB`;
  return bytes >= 1000 ? `${number(Math.round(bytes / 1000))} kB` : counted(bytes, "byte");
}

/** "+38 MB", "−12 packages": a difference with its sign. */
export const signed = (value: number, written: (amount: number) => string): string =>
  `${value < 0 ? "−" : "+"}${written(Math.abs(value))}`;

const units = [
  ["minute", 60],
  ["hour", 60 * 60],
  ["day", 24 * 60 * 60],
  ["week", 7 * 24 * 60 * 60],
  ["month", 30 * 24 * 60 * 60],
  ["year", 365 * 24 * 60 * 60],
] as const;

/** "2 hours ago". */
export function ago(at: Date, now = Date.now()): string {
  const seconds = Math.max(0, (now - at.getTime()) / 1000);
  const unit = units.findLast(([, length]) => seconds >= length);
  return unit ? `${counted(Math.floor(seconds / unit[1]), unit[0])} ago` : "just now";
}

/** "about 1 min left". */
export const secondsLeft = (seconds: number): string =>
  seconds < 60 ? "less than 1 min left" : `about ${Math.round(seconds / 60)} min left`;

/** `2026-11-22 14:02 UTC`. */
export const exactTime = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

const days = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** "9 August 2028" for `2028-08-09`. */
export const day = (date: string): string => days.format(new Date(date));

/** "1 min 52 s". */
export const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;

/** "root, password linux". Omits an empty password, which means that it is not publicly known. */
export const loginWords = ({ user, password }: { user: string; password: string }): string =>
  password === "" ? user : `${user}, password ${password}`;

/** How a machine starts the image. On a PC, a disk or medium that boots with UEFI also boots with BIOS. */
export function bootWords({ arch, imageType }: { arch: Arch; imageType: ImageType }, firmware: Firmware): string {
  const { product } = imageFormats[imageType];
  if (product === "network") return "the network";
  if (product === "container") return "the kernel of its host";
  return architectures[arch].boots[firmware];
}
