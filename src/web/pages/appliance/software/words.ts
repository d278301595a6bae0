import type { SoftwareEffect, Solution } from "#domain/software/effect";
import { listed } from "#domain/software/problem-words";
import { counted, signed, size } from "../../../parts/words.ts";

/** "+12 packages, +38 MB"; empty if it does not resolve on one side. */
function effectWords({ before, after }: Pick<SoftwareEffect, "before" | "after">): string {
  if (!before || !after) return "";
  const packages = after.packages - before.packages;
  const bytes = after.installedBytes - before.installedBytes;
  if (packages === 0 && bytes === 0) return "no change";
  return `${signed(packages, (amount) => counted(amount, "package"))}, ${signed(bytes, size)}`;
}

/** The same, or that it would not resolve. */
export const effectOrConflict = (effect: SoftwareEffect): string =>
  effect.state === "solved" ? effectWords(effect) : "Conflict";

/** "Remove nginx", "Allow nginx-common": what a solution does to the selection. */
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
