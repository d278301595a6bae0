/**
 * A Debian repository has one URL, that of its index's directory, so that it can be compared and opened like any other:
 * `http://deb.debian.org/debian/dists/bookworm#main,contrib`. After `#` are the components. Without it, the index
 * suggests them. After `?` are the names of packages, if all others are ignored. A flat repository has its index and
 * packages in one directory, without `/dists/`.
 */
export interface AptAddress {
  /** The base of the packages' locations. */
  root: string;
  /** The index's directory below the root, such as `dists/bookworm`; empty if flat. */
  directory: string;
  components: string[];
  /** The names of the packages to read. If empty, all. */
  only: string[];
}

export function parseAptAddress(url: string): AptAddress {
  const [address = "", fragment = ""] = url.split("#");
  const [components = "", only = ""] = fragment.split("?");
  const at = address.lastIndexOf("/dists/");
  return {
    root: at < 0 ? address : address.slice(0, at),
    directory: at < 0 ? "" : address.slice(at + 1),
    components: components.split(",").filter(Boolean),
    only: only.split(",").filter(Boolean),
  };
}

/** A suite that ends with `/` is the directory of a flat repository, as in apt's own lists of sources. */
export function aptAddress(root: string, suite: string, components: readonly string[]): string {
  const base = root.replace(/\/+$/, "");
  const path = suite.replace(/^\/+|\/+$/g, "");
  if (suite.endsWith("/")) return path === "" || path === "." ? base : `${base}/${path}`;
  return `${base}/dists/${path}${components.length > 0 ? `#${components.join(",")}` : ""}`;
}

/** The address of the repository with only these packages. */
export const withOnly = (address: string, names: readonly string[]): string =>
  names.length === 0 ? address : `${address}${address.includes("#") ? "" : "#"}?${names.join(",")}`;

/** A name in Debian. */
export const packageName = /^[a-z0-9][a-z0-9.+-]+$/;

export const componentName = /^[A-Za-z0-9][A-Za-z0-9.+-]*$/;
