import type { SoftwareEffect } from "#domain/software/effect";
import { counted, size } from "../../../parts/words.ts";

const signed = (value: number, words: string): string => `${value < 0 ? "−" : "+"}${words}`;

/** "+12 packages, +38 MB"; empty if it does not resolve on one side. */
function effectWords({ before, after }: Pick<SoftwareEffect, "before" | "after">): string {
  if (!before || !after) return "";
  const packages = after.packages - before.packages;
  const bytes = after.installedBytes - before.installedBytes;
  if (packages === 0 && bytes === 0) return "no change";
  const amount = counted(Math.abs(packages), "package");
  return `${signed(packages, amount)}, ${signed(bytes, size(Math.abs(bytes)))}`;
}

/** The same, or that it would not resolve. */
export const effectOrConflict = (effect: SoftwareEffect): string =>
  effect.state === "solved" ? effectWords(effect) : "Conflict";
