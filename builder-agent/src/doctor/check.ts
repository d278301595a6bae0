import type { ImageType } from "../contract.ts";

/** What a host cannot do while a check fails. */
export type Ability = ImageType | "builds" | "testdrives" | "sample-distribution" | "EFI disks" | "LVM disks" | "tests";

/** One finding of the doctor. `degraded`: works, but slower or narrower. */
export interface Check {
  name: string;
  state: "ok" | "degraded" | "missing";
  detail: string;
  /** Empty where all is well. */
  disables: Ability[];
  /** The command, or the deed, that mends it; empty where nothing is to mend. */
  mend: string;
}

export const fine = (name: string, detail: string): Check => ({ name, state: "ok", detail, disables: [], mend: "" });

export const degraded = (name: string, detail: string, disables: Ability[], mend: string): Check => ({
  name,
  state: "degraded",
  detail,
  disables,
  mend,
});

export const missing = (name: string, detail: string, disables: Ability[], mend: string): Check => ({
  ...degraded(name, detail, disables, mend),
  state: "missing",
});

/** Only what is missing takes an ability away. */
export function isPossible(ability: "oem" | "iso" | "testdrives" | "sample-distribution", report: Check[]): boolean {
  const stops = (check: Check) =>
    check.disables.includes(ability) || ((ability === "oem" || ability === "iso") && check.disables.includes("builds"));
  return !report.some((check) => check.state === "missing" && stops(check));
}
