/** Fields in `Packages` that a package manager needs, apart from those that identify the file. */
const needed = [
  ["Package", "Source", "Version", "Architecture", "Multi-Arch", "Essential", "Important", "Protected"],
  ["Priority", "Section", "Installed-Size", "Pre-Depends", "Depends", "Recommends", "Suggests", "Enhances"],
  ["Breaks", "Conflicts", "Replaces", "Provides"],
].flat();

const others = new RegExp(`^(?!(?:${needed.join("|")}):|\\n|[ \\t]).*\\n(?:[ \\t].*\\n)*`, "gim");

/** The paragraphs of a slice of `Packages`, with only the fields that a package manager needs. */
export const controlsIn = (slice: Uint8Array): string => `${new TextDecoder().decode(slice)}\n`.replace(others, "");

/** A package as `Packages` names it. */
export interface DebIdentity {
  name: string;
  /** The version with its epoch and revision. */
  version: string;
  arch: string;
}

export const debKey = ({ name, version, arch }: DebIdentity): string => `${name} ${version} ${arch}`;

/**
 * The paragraphs of the wanted packages, by `debKey`. Most paragraphs are of other packages, so only those whose name is
 * wanted are read whole. The name is usually in the first line.
 */
export function* wantedControls(controls: string, wanted: ReadonlySet<string>): Generator<[key: string, text: string]> {
  const names = new Set([...wanted].map((key) => key.slice(0, key.indexOf(" "))));
  for (let start = 0; start < controls.length;) {
    const gap = controls.indexOf("\n\n", start);
    const end = gap < 0 ? controls.length : gap + 1;
    if (names.has(firstName(controls, start) ?? fieldIn(controls.slice(start, end), "Package"))) {
      const text = controls.slice(start, end);
      const key = keyOfControl(text);
      if (wanted.has(key)) yield [key, text];
    }
    start = end;
    while (controls[start] === "\n") start += 1;
  }
}

const firstField = "Package: ";

/** The name of a package, if it is in the first line of its paragraph. */
const firstName = (controls: string, start: number): string | undefined =>
  controls.startsWith(firstField, start)
    ? controls.slice(start + firstField.length, controls.indexOf("\n", start)).trim()
    : undefined;

const fieldIn = (text: string, name: string): string =>
  new RegExp(`^${name}:[ \\t]*(\\S*)`, "im").exec(text)?.[1] ?? "";

function keyOfControl(text: string): string {
  // The default epoch is 0, and few versions include it.
  const version = fieldIn(text, "Version").replace(/^0:/, "");
  return debKey({ name: fieldIn(text, "Package"), version, arch: fieldIn(text, "Architecture") });
}
