import type { AffectedCounts, AffectedState } from "#model/advisory";
import { State } from "./state.tsx";
import { counted, number } from "./words.ts";

export const advisoryWords: Readonly<Record<AffectedState, string>> = {
  fixed: "fixed in an update",
  open: "not fixed yet",
  undetermined: "not examined yet",
  unimportant: "unimportant",
};

/** The advisories of an image in a few words: what an update fixes, or else whether anything is open. */
export const AdvisorySummary = ({ counts: { fixed, open, exploited } }: { counts: AffectedCounts }) => {
  if (exploited > 0)
    return (
      <State tone="bad">
        {number(fixed)} fixed in an update, {number(exploited)} of them exploited
      </State>
    );
  if (fixed > 0) return <State tone="warn">{number(fixed)} fixed in an update</State>;
  return open > 0 ? <State>{number(open)} not fixed yet</State> : <State tone="good">none that matter</State>;
};

/** How many advisories an update fixes, for a list. */
export const FixableAdvisories = ({ counts: { fixed, exploited } }: { counts: AffectedCounts }) => (
  <State tone={exploited > 0 ? "bad" : "warn"}>
    {counted(fixed, "fixable advisory", "fixable advisories")}
    {exploited > 0 && `, ${number(exploited)} exploited`}
  </State>
);
