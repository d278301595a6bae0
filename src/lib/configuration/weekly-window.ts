/* A span of hours in UTC on some days of the week, as in "sat,sun 02:00-05:00". */

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const day = `(?:${weekdays.join("|")})`;
const days = `${day}(?:-${day})?`;
const time = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`;

/** A day is single (`sat`) or in a range (`mon-fri`). Without days, the window opens every day. It is never empty. */
export const weeklyWindow = {
  pattern: new RegExp(String.raw`^(?!.*(\d\d:\d\d)-\1$)(?:(?:${days}(?:,${days})* )?${time}-(?:${time}|24:00))?$`),
  why: "must be days and hours such as sat,sun 02:00-05:00 or mon-fri 22:00-04:00, hours alone such as 02:00-05:00, or empty",
};

export interface WeeklyWindow {
  /** The days on which it opens: 0 is Sunday, as for `getUTCDay`. */
  days: ReadonlySet<number>;
  /** Minutes from midnight to its opening. */
  opens: number;
  /** Its length in minutes. It may end on the next day. */
  length: number;
}

/** Reads a window of the pattern. Undefined for an empty text. */
export function readWeeklyWindow(text: string): WeeklyWindow | undefined {
  if (text === "") return undefined;
  const [hours = "", named = "sun-sat"] = text.split(" ").toReversed();
  const [opens = 0, ends = 0] = hours.split("-").map(minutesOf);
  const length = ends - opens;
  return { days: new Set(named.split(",").flatMap(daysOf)), opens, length: length > 0 ? length : length + 24 * 60 };
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

/** A range may extend past the end of the week: fri-mon. */
function daysOf(range: string): number[] {
  const [first = 0, last = first] = range.split("-").map((name) => weekdays.indexOf(name));
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, index) => (first + index) % 7);
}
