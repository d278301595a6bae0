import type { Issue } from "#domain/appliances/issue";
import type { WatchedBuild } from "#domain/builds/build";
import type { IconName } from "../../parts/icon-names.ts";
import type { Tone } from "../../parts/notice.tsx";
import { counted } from "../../parts/words.ts";

interface StateWords {
  tone: Tone | undefined;
  icon?: IconName;
  words: string;
}

/** Returns one of: Building N %, Waiting, number N, Cannot be built, N warnings, Ready to build. */
export function stateOf({ running: [build], ...issues }: StateFacts): StateWords {
  if (build?.state === "running") return { tone: "busy", words: `Building ${build.percent} %` };
  if (build) return { tone: undefined, icon: "clock", words: waitingWords(build) };
  const { errors, warnings } = issues;
  if (errors > 0) return { tone: "bad", words: "Cannot be built" };
  if (warnings > 0) return { tone: "warn", words: counted(warnings, "warning") };
  return { tone: "good", words: "Ready to build" };
}

export interface StateFacts {
  running: readonly WatchedBuild[];
  errors: number;
  warnings: number;
}

const waitingWords = ({ queuePosition }: WatchedBuild): string =>
  queuePosition === undefined ? "Waiting" : `Waiting, number ${queuePosition}`;

export const factsOf = ({
  running,
  issues,
}: {
  running: readonly WatchedBuild[];
  issues: readonly Issue[];
}): StateFacts => ({
  running,
  errors: issues.filter(({ type }) => type === "error").length,
  warnings: issues.filter(({ type }) => type === "warning").length,
});
