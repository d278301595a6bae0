import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { frozenSource, type FrozenInput } from "../contract.ts";

/** Writes the KIWI description to `dir`. Its only repository is the local directory `packages`. */
export async function writeDescription(input: FrozenInput, dir: string, packages: string): Promise<void> {
  for (const [name, text] of Object.entries(input.description)) {
    const path = join(dir, insideOnly(name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, name === "config.xml" ? resolveSources(text, `dir://${packages}`) : text);
    // KIWI uses the first line of a script only if the script is executable.
    if (text.startsWith("#!")) await chmod(path, 0o755);
  }
}

/** Puts the address of the repository into config.xml. Exported for its test. */
export function resolveSources(configXml: string, address: string): string {
  return configXml.replaceAll(/(<source\s+path=)"([^"]*)"/g, (_, before: string, path: string) => {
    if (path === frozenSource) return `${before}"${escapeAttribute(address)}"`;
    throw new Error(`config.xml names a repository that the build does not have: ${path}`);
  });
}

const escapeAttribute = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/**
 * Refuses a path that leads out of the description. Names come from the Worker, but root would write to such a path.
 */
function insideOnly(name: string): string {
  const path = normalize(name);
  if (path.startsWith("/") || path.startsWith("..") || path.includes("\0"))
    throw new Error(`not a path inside the description: ${name}`);
  return path;
}
