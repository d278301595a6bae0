import { isOutside, type OutsideRules } from "#domain/outside-address";
import { Refusal } from "#domain/refusal";

/** The address that a person gives for a repository: http(s), in one spelling, so that the same one is found again. */
export function parseRepositoryUrl(rules: OutsideRules, text: string): string {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol) || text.length > 1000)
    throw refused("The url must be an http or https URL.");
  if (url.username !== "" || url.password !== "") throw refused("The url must not contain credentials.");
  if (url.search !== "" || url.hash !== "") throw refused("The url must not contain ? or #.");
  if (!isReachable(rules, url)) throw refused("The url points to a private address.");
  url.pathname = url.pathname.replace(/(\/repodata)?(\/repomd\.xml)?\/*$/, "");
  return url.href.replace(/\/$/, "");
}

/** Whether this service fetches from an address. */
export const isReachable = (rules: OutsideRules, url: URL): boolean =>
  /^https?:$/.test(url.protocol) && isOutside(rules, url);

const refused = (message: string) => new Refusal("invalid_value", { message });
