import { configurationOf } from "#lib/configuration/stored";
import { readWeeklyWindow, type WeeklyWindow } from "#lib/configuration/weekly-window";
import type { Appliance } from "#storage/appliances";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The window of an appliance's automatic builds. Undefined if they may begin at any time. */
export const windowOf = (appliance: Pick<Appliance, "configuration">): WeeklyWindow | undefined =>
  readWeeklyWindow(configurationOf(appliance).settings.automaticBuildsAt);

/** When the window that contains this time opened, or when the next one opens. */
export function openingAt({ days, opens, length }: WeeklyWindow, at: number): number {
  const today = Math.floor(at / dayMs) * dayMs;
  // Yesterday's window may still be open, and the next one is at most a week away.
  for (let day = today - dayMs; ; day += dayMs) {
    const from = day + opens * minuteMs;
    if (days.has(new Date(day).getUTCDay()) && at < from + length * minuteMs) return from;
  }
}

/** The first time at or after this one that is in the window. Without a window, every time is in it. */
export const inWindow = (window: WeeklyWindow | undefined, at: number): number =>
  window ? Math.max(at, openingAt(window, at)) : at;
