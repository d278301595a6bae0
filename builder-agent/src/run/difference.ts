import { nevra, type FrozenPackage, type InstalledPackage } from "../contract.ts";

/** How the packages in the image differ from the frozen ones. */
export interface Difference {
  missing: string[];
  unexpected: string[];
}

/** Undefined if the image has exactly the frozen packages. */
export function differenceOf(frozen: FrozenPackage[], installed: InstalledPackage[]): Difference | undefined {
  const [wanted, found] = [new Set(frozen.map(nevra)), new Set(installed.map(nevra))];
  const missing = [...wanted.difference(found)].toSorted();
  const unexpected = [...found.difference(wanted)].toSorted();
  return missing.length + unexpected.length === 0 ? undefined : { missing, unexpected };
}

/** Every package, for the log. */
export const linesOf = ({ missing, unexpected }: Difference): string[] => [
  ...missing.map((name) => `chosen, but not in the image: ${name}`),
  ...unexpected.map((name) => `in the image, but not chosen: ${name}`),
];

/** A sentence for the build's message. */
export function remarkOf({ missing, unexpected }: Difference): string {
  const parts = [...listed(missing, "missing"), ...listed(unexpected, "unexpected")];
  return `The image differs from what was resolved: ${parts.join("; ")}.`;
}

const shownNames = 3;

function listed(names: string[], what: string): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, shownNames).map((name) => name.slice(0, 60));
  return [`${names.length} ${what} (${shown.join(", ")}${names.length > shownNames ? ", …" : ""})`];
}
