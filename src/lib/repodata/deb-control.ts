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

/** The paragraphs of the wanted packages, by `debKey`. */
export function* wantedControls(controls: string, wanted: ReadonlySet<string>): Generator<[key: string, text: string]> {
  for (const [text] of controls.matchAll(/(?:[^\n]+\n)+/g)) {
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(\\S*)`, "im").exec(text)?.[1] ?? "";
    // The default epoch is 0, and few versions include it.
    const version = field("Version").replace(/^0:/, "");
    const key = debKey({ name: field("Package"), version, arch: field("Architecture") });
    if (wanted.has(key)) yield [key, text];
  }
}
