import type { BaseSystemFacts } from "#model/catalogue";

/** The base system of repositories that match none of the service's base systems. */
export const otherBaseSystem = "other";

export interface KnownBaseSystem {
  name: string;
  facts: BaseSystemFacts;
}

/** Recognises the base system by the repository's URL or index. Undefined if only the packages can show it. */
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

/** Whether a suite belongs to a release: `bookworm-security` belongs to `bookworm`. */
const isSuiteOf = (codename: string, suite: string) => suite === codename || suite.startsWith(`${codename}-`);

/** Recognises the base system by a package that provides its release capability. */
export const baseSystemByPackages = (
  known: readonly KnownBaseSystem[],
  isProvided: (capability: string) => boolean,
): string | undefined => known.find(({ facts }) => facts.detection.releaseCapabilities.some(isProvided))?.name;

/** Whether a text matches a pattern. `*` matches anything; everything else is literal. */
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
