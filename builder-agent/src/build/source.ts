import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { frozenSource, type FrozenInput } from "../contract.ts";

/** Writes the KIWI description to `dir`; its one repository is the directory `packages` of this disk. */
export async function writeDescription(input: FrozenInput, dir: string, packages: string): Promise<void> {
  for (const [name, text] of Object.entries(input.description)) {
    const path = join(dir, insideOnly(name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, name === "config.xml" ? resolveSources(text, `dir://${packages}`) : text);
    // KIWI runs a script by its own first line only when it may be executed.
    if (text.startsWith("#!")) await chmod(path, 0o755);
  }
}

/** Exported for the table of its cases. */
export function resolveSources(configXml: string, address: string): string {
  return configXml.replaceAll(/(<source\s+path=)"([^"]*)"/g, (_, before: string, path: string) => {
    if (path === frozenSource) return `${before}"${escapeAttribute(address)}"`;
    throw new Error(`config.xml names a repository that the build does not have: ${path}`);
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
