/** Compares versions by their numbers: 0.0.10 comes after 0.0.9. */
export const compareVersions = (one: string, other: string): number =>
  one.localeCompare(other, "en", { numeric: true });

/** The highest number of a version. */
export const highestNumber = 9999;

/**
 * `0.0.1` → `0.0.2`: each finished build raises the release number (compatibility.md, "Architectures and versions"). After the
 * highest number, the number before it rises: `0.0.9999` → `0.1.0`. The highest version stays.
 */
export function raiseRelease(version: string): string {
  const numbers = version.split(".").map(Number);
  const at = numbers.findLastIndex((number) => number < highestNumber);
  return numbers.map((number, nth) => (at < 0 || nth < at ? number : nth === at ? number + 1 : 0)).join(".");
}

/** The version that is named after a moment, exact to the second: 2026-11-27 05:45:12 (UTC) is `2611.2705.4512`. */
export function versionAt(moment: Date): string {
  const digits = moment.toISOString().replaceAll(/\D/g, "");
  return [digits.slice(2, 6), digits.slice(6, 10), digits.slice(10, 14)].map(Number).join(".");
}

/** Whether a version may be named after a moment. */
export const isVersionOfMoment = (version: string): boolean => /^\d{4}\.\d{3,4}\.\d{1,4}$/.test(version);
