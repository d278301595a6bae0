import type { BaseSystemFacts } from "#model/catalogue";

/** The base system of repositories that are for none of ours. */
export const otherBaseSystem = "other";

export interface KnownBaseSystem {
  name: string;
  facts: BaseSystemFacts;
}

/** By its URL, or by its index; undefined: only its packages can tell. */
export function baseSystemByIndex(
  known: readonly KnownBaseSystem[],
  { url, distributions }: { url: string; distributions: readonly { cpeId?: string; name: string }[] },
): string | undefined {
  const byUrl = known.find(({ facts }) => facts.detection.urls.some((pattern) => fits(pattern, `${url}/`)));
  const cpeIds = distributions.flatMap(({ cpeId }) => cpeId?.toLowerCase() ?? []);
  const isAmong = (pattern: string) => cpeIds.some((cpeId) => fits(pattern.toLowerCase(), cpeId));
  const byCpe = () => known.find(({ facts }) => facts.detection.cpeIds.some(isAmong));
  const byCodename = () =>
    known.find(({ facts }) =>
      facts.detection.codenames?.some((codename) => distributions.some(({ name }) => isSuiteOf(codename, name))),
    );
  return (byUrl ?? byCpe() ?? byCodename())?.name;
}

/** `bookworm-security` is for `bookworm`. */
const isSuiteOf = (codename: string, suite: string) => suite === codename || suite.startsWith(`${codename}-`);

/** By a package that provides a base system's release capability. */
export const baseSystemByPackages = (
  known: readonly KnownBaseSystem[],
  isProvided: (capability: string) => boolean,
): string | undefined => known.find(({ facts }) => facts.detection.releaseCapabilities.some(isProvided))?.name;

/** `*` matches anything; the rest is text. */
function fits(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest.slice(0, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  const last = rest.at(-1);
  return last === undefined ? text.length === at : text.length - last.length >= at && text.endsWith(last);
}
