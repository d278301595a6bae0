/** Fetches files of a build's repositories, from mirrors or from the Worker itself. */
import type { Config } from "../config.ts";
import { BuildFailure } from "../run/failure.ts";
import type { FrozenRepository } from "../contract.ts";
import { fetchOutside, OutsideRefused, type OutsideRules } from "../outside.ts";
import { RemoteRefusal } from "../retry.ts";

/** How this agent reaches the repositories of a build. */
export interface Reach {
  /** Base of the Worker, which serves `service:/…`. */
  url: string;
  /** Headers for the Worker's calls about this build. */
  credentials: Record<string, string>;
  /**
   * Base of the Worker's calls about this build, for uploaded packages (`service:/user/ID`) and the appliance's own
   * files.
   */
  buildUrl?: string;
  allowHosts: readonly string[];
  /** Additional allowed hosts, only for repositories of the operator's catalogues. */
  catalogueHosts?: readonly string[];
  /** Used only for repositories of catalogues on these hosts. */
  catalogueProxy?: OutsideRules["proxy"];
}

/** The reach of a build, as the agent's configuration allows it. */
export const reachOf = (
  { url, allowHosts, catalogueHosts, catalogueProxy, proxiedHosts }: Config,
  ofBuild: Pick<Reach, "credentials" | "buildUrl">,
): Reach => ({
  url,
  allowHosts,
  catalogueHosts,
  ...(catalogueProxy !== undefined && { catalogueProxy: { url: catalogueProxy, hosts: proxiedHosts } }),
  ...ofBuild,
});

/** A file of a repository. */
export interface Address {
  /** URL of the repository, without a slash at its end. */
  base: string;
  isOfCatalogue?: boolean | undefined;
  /** The path below it, from `insideOnly`. */
  path: string;
}

export const addressOf = (
  { url, isOfCatalogue }: Pick<FrozenRepository, "url" | "isOfCatalogue">,
  path: string,
): Address => ({ base: url.replace(/\/+$/, ""), path, isOfCatalogue });

const maxRedirects = 5;

/** Follows the redirects of mirrors, and checks every URL like the first. Throws if the answer is not a success. */
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

/** The answer, if its status is a success. */
export function succeeded(answer: Response, what = "GET"): Response {
  if (answer.ok) return answer;
  void answer.body?.cancel();
  throw new RemoteRefusal(what, answer.status, "");
}

/**
 * Checks a location from a mirror's metadata, and encodes it for a URL. `+` and `~` are not encoded, like in zypper.
 */
export function insideOnly(location: string): string {
  const steps = location.split("/");
  if (steps.some((step) => step === "" || step === "." || step === "..")) {
    throw new BuildFailure({ kind: "failed", reason: `A repository lists a file outside itself: ${location}` });
  }
  return steps.map((step) => encodeURIComponent(step).replaceAll("%2B", "+")).join("/");
}
