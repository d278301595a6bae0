import { readFile, writeFile } from "node:fs/promises";
import { noLicence } from "./result.ts";
import type { RootTree } from "./root-walk.ts";

/** Larger copyright files are not read. */
const maxBytes = 2 * 1024 * 1024;
const maxLicenceCharacters = 4096;

/**
 * Adds the licences to KIWI's list of the packages (`.packages`) of a Debian image, because dpkg does not know them. Reads them
 * from the packages' machine-readable copyright files.
 */
export async function addLicences(list: string, root: RootTree): Promise<void> {
  const licences = await licencesIn(root);
  const lines = (await readFile(list, "utf8")).split("\n").map((line) => {
    const licence = licences.get(line.split("|", 1)[0] ?? "");
    return licence !== undefined && line.endsWith(`|${noLicence}`)
      ? `${line.slice(0, -noLicence.length)}${licence}`
      : line;
  });
  await writeFile(list, lines.join("\n"));
}

/** The licences by package name. Packages of one source often link to the same file. */
async function licencesIn(root: RootTree): Promise<ReadonlyMap<string, string>> {
  const licences = new Map<string, string>();
  const links = new Map<string, string>();
  for await (const { path, hostPath, type, size, target } of root.entries()) {
    const [, name, file] = /^\/usr\/share\/doc\/([^/]+)(\/copyright)?$/.exec(path) ?? [];
    if (name === undefined) continue;
    if (type === "l") {
      const other = /^(?:\.\.\/)?([^/.][^/]*)(?:\/copyright)?$/.exec(target)?.[1];
      if (other !== undefined) links.set(name, other);
    } else if (file !== undefined && type === "f" && size <= maxBytes) {
      const licence = licenceOf(await readFile(hostPath, "utf8"));
      if (licence !== "") licences.set(name, licence);
    }
  }
  const linked = [...links].flatMap(([name, other]) => {
    const licence = licences.get(other);
    return licence === undefined ? [] : [[name, licence] as const];
  });
  return new Map([...linked, ...licences]);
}

/** The distinct licence names in a copyright file of Debian's format 1.0, joined by "and". Exported for its test. */
export function licenceOf(copyright: string): string {
  if (!/^Format(?:-Specification)?:[^\n]*copyright-format/i.test(copyright.trimStart())) return "";
  const names = copyright.split("\n").flatMap((line) => /^License:\s*(\S[^|]*?)\s*$/i.exec(line)?.[1] ?? []);
  const distinct = [...new Set(names)];
  const joined = distinct.length === 1 ? distinct : distinct.map((name) => (/ or /i.test(name) ? `(${name})` : name));
  return joined.join(" and ").slice(0, maxLicenceCharacters);
}
