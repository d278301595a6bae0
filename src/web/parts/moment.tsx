import { ago, exactTime } from "./words.ts";

/** When something was: "2 hours ago", with the exact time for whoever points at it. */
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
