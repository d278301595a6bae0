import type { SoftwareEffect, Solution } from "#domain/software/effect";
import { listed } from "#domain/software/problem-words";
import { counted, signed, size } from "../../../parts/words.ts";

/** "+12 packages, +38 MB". Empty if the software does not resolve before or after. */
function effectWords({ before, after }: Pick<SoftwareEffect, "before" | "after">): string {
  if (!before || !after) return "";
  const packages = after.packages - before.packages;
  const bytes = after.installedBytes - before.installedBytes;
  if (packages === 0 && bytes === 0) return "no change";
  return `${signed(packages, (amount) => counted(amount, "package"))}, ${signed(bytes, size)}`;
}

/** The effect of a change, or "Conflict" if the software would not resolve. */
export const effectOrConflict = (effect: SoftwareEffect): string =>
  effect.state === "solved" ? effectWords(effect) : "Conflict";

/** Describes what a solution does to the selection: "Remove nginx", "Allow nginx-common". */
export function solutionWords({ change }: Pick<Solution, "change">): string {
  const { addPackages, removePackages, addPatterns, removePatterns, banPackages, unbanPackages } = change;
  const [added, removed] = [
    [...addPackages, ...addPatterns],
    [...removePackages, ...removePatterns],
  ];
  const steps = [
    added.length > 0 && removed.length > 0 ? `use ${listed(added)} instead of ${listed(removed)}` : "",
    added.length > 0 && removed.length === 0 ? `use any version of ${listed(added)}` : "",
    added.length === 0 && removed.length > 0 ? `remove ${listed(removed)}` : "",
    banPackages.length > 0 ? `ban ${listed(banPackages)}` : "",
    unbanPackages.length > 0 ? `allow ${listed(unbanPackages)}` : "",
  ].filter((step) => step !== "");
  const words = steps.join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
