import { imageTypes, productOf, type Arch, type FileSystem, type ImageType } from "../contract.ts";

/** An ability that a host lacks while a check fails. */
export type Ability =
  | Possibility
  | "builds"
  | "guests"
  | "UEFI disks"
  | "UEFI media"
  | "LVM disks"
  | `${FileSystem} disks`
  | "arm64 testdrives"
  | "tests";

/** How long a program may take to answer: seconds on a busy host. A program that hangs must not delay the agent. */
export const answerLimitMs = 30_000;

/** The abilities that the doctor reports as possible or not. */
type Possibility = ImageType | Arch | "deb" | "testdrives" | "sample-distribution";

/** One finding of the doctor. `degraded` means that it works, but slower or with limits. */
export interface Check {
  name: string;
  state: "ok" | "degraded" | "missing";
  detail: string;
  /** Empty if everything works. */
  disables: Ability[];
  /** How to fix it, e.g. a command. Empty if there is nothing to fix. */
  fix: string;
}

export const fine = (name: string, detail: string): Check => ({ name, state: "ok", detail, disables: [], fix: "" });

export const degraded = (name: string, detail: string, disables: Ability[], fix: string): Check => ({
  name,
  state: "degraded",
  detail,
  disables,
  fix,
});

export const missing = (name: string, detail: string, disables: Ability[], fix: string): Check => ({
  ...degraded(name, detail, disables, fix),
  state: "missing",
});

const isImageType = (wanted: Ability): wanted is ImageType => imageTypes.some((type) => type === wanted);

/** An image type needs what its product needs, and itself. Other abilities need only themselves. */
const neededFor = (wanted: Ability): readonly Ability[] =>
  isImageType(wanted) ? ["builds", ...productOf(wanted).needs, wanted] : [wanted];

/** The failed checks that make something impossible. Degraded ones do not. */
export function obstaclesTo(wanted: Ability, report: Check[]): Check[] {
  const needed = neededFor(wanted);
  return report.filter(({ state, disables }) => state === "missing" && disables.some((each) => needed.includes(each)));
}

export const isPossible = (wanted: Ability, report: Check[]): boolean => obstaclesTo(wanted, report).length === 0;
