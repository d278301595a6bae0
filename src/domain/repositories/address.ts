import { isOutside, type OutsideRules } from "#domain/outside-address";
import { aptAddress, componentName } from "#lib/repodata/apt-address";
import { Refusal } from "#domain/refusal";

/**
 * Normalises the address that a user enters for a repository, so that the same repository is found again. It must be
 * http(s). A line from apt's sources.list becomes the address of its suite.
 */
export function parseRepositoryUrl(rules: OutsideRules, text: string): string {
  const url = URL.parse(addressOfLine(text.trim()));
  if (!url || !/^https?:$/.test(url.protocol) || text.length > 1000)
    throw refused("The url must be an http or https URL.");
  if (url.username !== "" || url.password !== "") throw refused("The url must not contain credentials.");
  if (url.search !== "") throw refused("The url must not contain ?.");
  const components = url.hash.slice(1).split(",");
  if (url.hash !== "" && !(url.pathname.includes("/dists/") && components.every((name) => componentName.test(name)))) {
    throw refused(
      "The url may have # only before the components of a Debian repository, as in …/dists/bookworm#main,contrib.",
    );
  }
  if (!isReachable(rules, url)) throw refused("The url points to a private address.");
  url.pathname = url.pathname.replace(/(\/repodata)?(\/repomd\.xml)?\/*$/, "").replace(/\/(In)?Release$/, "");
  return url.href.replace(/\/(?=$|#)/, "");
}

const aptLine = /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)((?:\s+\S+)*)$/;

function addressOfLine(text: string): string {
  const [, root, suite, components = ""] = aptLine.exec(text) ?? [];
  if (root === undefined || suite === undefined) return text;
  return aptAddress(root, suite, components.split(/\s+/).filter(Boolean));
}

/** Whether this service may fetch from an address. */
export const isReachable = (rules: OutsideRules, url: URL): boolean =>
  /^https?:$/.test(url.protocol) && isOutside(rules, url);

const refused = (message: string) => new Refusal("invalid_value", { message });
