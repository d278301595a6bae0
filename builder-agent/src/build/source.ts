import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { FrozenInput } from "../contract.ts";
import { checkOutside } from "../outside.ts";

/** How this agent reaches the repositories of a build. */
export interface Reach {
  /** Base of the Worker, which serves `service:/…`. */
  url: string;
  allowHosts: readonly string[];
}

/** Writes the KIWI description to `dir`, its repositories under the addresses that this agent reaches them by. */
export async function writeDescription(input: FrozenInput, dir: string, reach: Reach): Promise<void> {
  const addresses = await addressesOf(input, reach);
  for (const [name, text] of Object.entries(input.description)) {
    const path = join(dir, insideOnly(name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, name === "config.xml" ? resolveSources(text, addresses) : text);
    // KIWI runs a script by its own first line only when it may be executed.
    if (text.startsWith("#!")) await chmod(path, 0o755);
  }
}

/** Aliases of repositories that the Worker serves: not reaching those is our fault, not the user's. */
export const ourAliases = (input: FrozenInput) =>
  input.repositories
    .filter((repository) => repository.url.startsWith("service:/"))
    .map((repository) => repository.alias);

async function addressesOf(input: FrozenInput, reach: Reach): Promise<Map<string, string>> {
  const addresses = input.repositories.map(async ({ alias, url }) => {
    const path = /^service:(\/.*)$/.exec(url)?.[1];
    return [alias, path === undefined ? (await checkOutside(url, reach)).href : reach.url + path] as const;
  });
  return new Map(await Promise.all(addresses));
}

/** Exported for the table of its cases. */
export function resolveSources(configXml: string, addresses: ReadonlyMap<string, string>): string {
  return configXml.replaceAll(/(<source\s+path=)"([^"]*)"/g, (_, before: string, path: string) => {
    const address = addresses.get(/^repo:(.+)$/.exec(path)?.[1] ?? "");
    if (address === undefined) throw new Error(`config.xml names a repository that the build does not have: ${path}`);
    return `${before}"${escapeAttribute(address)}"`;
  });
}

const escapeAttribute = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** Names come from the Worker, but a path that climbs out would be written by root. */
function insideOnly(name: string): string {
  const path = normalize(name);
  if (path.startsWith("/") || path.startsWith("..") || path.includes("\0"))
    throw new Error(`not a path inside the description: ${name}`);
  return path;
}
