import type { ImageType } from "../contract.ts";

/** What a host cannot do while a check fails. */
export type Ability = Possibility | "builds" | "guests" | "UEFI disks" | "UEFI media" | "LVM disks" | "tests";

/** So long a program may take to answer the doctor: seconds on a busy host, and one that hangs shall not hold the agent up. */
export const answerLimitMs = 30_000;

/** What the doctor gives a verdict on. */
export type Possibility = ImageType | "i586" | "testdrives" | "sample-distribution";

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

/** What a disk or a medium takes, its further shapes take too. Other possibilities stand on themselves alone. */
const restsOn: Partial<Record<Possibility, Ability[]>> = {
  oem: ["builds", "oem"],
  iso: ["builds", "iso"],
  vmx: ["builds", "oem", "vmx"],
  xen: ["builds", "oem", "xen"],
  ec2: ["builds", "oem", "ec2"],
  net: ["builds", "net"],
  oemiso: ["builds", "oem", "iso", "oemiso"],
};

/** The checks that take an ability away: only what is missing does. */
export function obstaclesTo(wanted: Possibility, report: Check[]): Check[] {
  const needed = restsOn[wanted] ?? [wanted];
  return report.filter(({ state, disables }) => state === "missing" && disables.some((each) => needed.includes(each)));
}

export const isPossible = (wanted: Possibility, report: Check[]): boolean => obstaclesTo(wanted, report).length === 0;
