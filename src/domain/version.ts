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
