import { ago, exactTime } from "./words.ts";

/** When something happened: "2 hours ago", with the exact time as a tooltip. */
export const Moment = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()} title={exactTime(at)}>
    {ago(at)}
  </time>
);

/** The day alone: "22 November 2026". */
export const Day = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()} title={exactTime(at)}>
    {at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })}
  </time>
);
