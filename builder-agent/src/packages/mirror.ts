/** Reading files of a build's repositories: those of mirrors, and those that the Worker itself has. */
import { BuildFailure } from "../build/build-failure.ts";
import type { FrozenRepository } from "../contract.ts";
import { fetchOutside, OutsideRefused, type OutsideRules } from "../outside.ts";
import { RemoteRefusal } from "../retry.ts";

/** How this agent reaches the repositories of a build. */
export interface Reach {
  /** Base of the Worker, which serves `service:/…`. */
  url: string;
  /** What the Worker's calls about this build require. */
  credentials: Record<string, string>;
  /** Where the Worker has the calls about this build: they serve uploaded packages (`service:/user/ID`) and the appliance's own files. */
  buildUrl?: string;
  allowHosts: readonly string[];
  /** Further hosts, only for repositories of the operator's catalogues. */
  catalogueHosts?: readonly string[];
  /** Only for repositories of catalogues, and for these hosts of them. */
  catalogueProxy?: OutsideRules["proxy"];
}

/** A file of a repository. */
export interface Address {
  /** Of the repository, without a slash at its end. */
  base: string;
  isOfCatalogue?: boolean | undefined;
  /** Below that, as `insideOnly` answers it. */
  path: string;
}

export const addressOf = (
  { url, isOfCatalogue }: Pick<FrozenRepository, "url" | "isOfCatalogue">,
  path: string,
): Address => ({ base: url.replace(/\/+$/, ""), path, isOfCatalogue });

const maxRedirects = 5;

/** Mirrors send their clients on; every URL on the way is checked like the first. An answer that is not a success is thrown. */
export async function askRepository(address: Address, reach: Reach, signal: AbortSignal): Promise<Response> {
  const { base, path } = address;
  const [, own] = /^service:(\/.*)/.exec(base) ?? [];
  if (own?.startsWith("/user/")) {
    const { credentials: headers, buildUrl } = reach;
    return succeeded(await fetch(`${buildUrl}/${path}`, { headers, redirect: "error", signal }));
  }
  if (own !== undefined) return succeeded(await fetch(`${reach.url}${own}/${path}`, { redirect: "error", signal }));
  const rules = address.isOfCatalogue
    ? { allowHosts: [...reach.allowHosts, ...(reach.catalogueHosts ?? [])], proxy: reach.catalogueProxy }
    : { allowHosts: reach.allowHosts };
  let url = `${base}/${path}`;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const answer = await fetchOutside(url, rules, { signal });
    const next = answer.status >= 300 && answer.status < 400 ? answer.headers.get("location") : null;
    if (next === null) return succeeded(answer);
    await answer.body?.cancel();
    url = URL.parse(next, url)?.href ?? next;
  }
  throw new OutsideRefused(`${base} redirects without end.`);
}

function succeeded(answer: Response): Response {
  if (answer.ok) return answer;
  void answer.body?.cancel();
  throw new RemoteRefusal("GET", answer.status, "");
}

/** Locations come from a mirror's metadata; zypper too knows no others. `+` and `~` stay as they are. */
export function insideOnly(location: string): string {
  const steps = location.split("/");
  if (steps.some((step) => step === "" || step === "." || step === "..")) {
    throw new BuildFailure({ kind: "failed", reason: `A repository names a file outside of itself: ${location}` });
  }
  return steps.map((step) => encodeURIComponent(step).replaceAll("%2B", "+")).join("/");
}
