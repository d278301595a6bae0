/** Selects the paragraphs of these packages from complete paragraphs of Debian's `Packages`. */
export function onlyPackages(names: readonly string[]): (paragraphs: Uint8Array) => Uint8Array {
  const wanted = new Set(names);
  return (paragraphs) => {
    const kept = new TextDecoder()
      .decode(paragraphs)
      .split(/^(?=Package:)/m)
      .filter((paragraph) => wanted.has(/^Package: *(\S+)/.exec(paragraph)?.[1] ?? ""));
    return new TextEncoder().encode(kept.join(""));
  };
}
