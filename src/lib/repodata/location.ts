import { RepodataFault } from "./fault.ts";

const maxLocationLength = 1024; // the longest in large distributions are below 300

/**
 * Turns a location from metadata (`location/@href`, a name in `content`) into a plain relative path inside the
 * repository. Refuses absolute paths, URLs, `..` in any spelling, backslashes (browsers and fetch read them as `/`) and
 * control characters.
 */
export function insideRepository(href: string): string {
  const refuse = (): never => {
    throw new RepodataFault(
      "forbidden_location",
      `location leaves the repository: ${JSON.stringify(href.slice(0, 120))}`,
    );
  };
  if (href.length > maxLocationLength || /^[/\\]|^[a-z][a-z0-9+.-]*:\/\/|[\\\u0000-\u001f\u007f]/i.test(href)) refuse();
  const segments = href.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.length === 0 || segments.some((segment) => /^(\.|%2e){1,2}$|%2f|%5c|%00/i.test(segment))) refuse();
  return segments.join("/");
}

/**
 * The URL of a path inside a repository. The path is appended, not resolved: in `new URL(path, base)` a file name such
 * as
 * `data:x` would be a scheme. `?` and `#` are ordinary characters of a file name.
 */
export function locationUrl(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${insideRepository(path).replaceAll("?", "%3F").replaceAll("#", "%23")}`;
  return url.href;
}
