/** `0.0.1` → `0.0.2`: the release number rises with each finished build (wire.md §1.3). */
export function raiseRelease(version: string): string {
  const numbers = version.split(".");
  const release = Number(numbers.pop());
  return [...numbers, release + 1].join(".");
}
