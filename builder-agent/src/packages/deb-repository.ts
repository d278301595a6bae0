import { createHash } from "node:crypto";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { architectures, frozenComponent, nvra, type FrozenInput, type FrozenPackage } from "../contract.ts";
import { packageFile } from "./package-file.ts";

/**
 * Makes a repository of the fetched packages for debootstrap and apt, from their frozen paragraphs. Debian's own tools
 * would take ten seconds. It is not signed, because the checksum of each file was verified.
 */
export async function writeDebRepository(
  { appliance, debRelease, packages, sourceDate = 0 }: FrozenInput,
  dir: string,
): Promise<void> {
  if (debRelease === undefined) throw new Error("the build does not name its Debian release");
  const arch = architectures[appliance.arch].debian;
  const paragraphs = await Promise.all(packages.map((one) => paragraphOf(one, dir)));
  const index = Buffer.from(paragraphs.join(""));
  const path = `${frozenComponent}/binary-${arch}/Packages`;
  const release = join(dir, "dists", debRelease);
  await mkdir(join(release, frozenComponent, `binary-${arch}`), { recursive: true });
  await writeFile(join(release, path), index);
  const lines = [
    `Suite: ${debRelease}`,
    `Codename: ${debRelease}`,
    `Date: ${new Date(sourceDate * 1000).toUTCString()}`,
    `Architectures: ${arch}`,
    `Components: ${frozenComponent}`,
    "SHA256:",
    ` ${createHash("sha256").update(index).digest("hex")} ${index.length} ${path}`,
  ];
  await writeFile(join(release, "Release"), lines.map((line) => `${line}\n`).join(""));
}

async function paragraphOf(one: FrozenPackage, dir: string): Promise<string> {
  const { control, checksum } = one;
  if (control === undefined || checksum.type !== "sha256")
    throw new Error(`${nvra(one)} was frozen without its entry in the repository`);
  const file = packageFile(one);
  const { size } = await stat(join(dir, file));
  return `${control}Filename: ${file}\nSize: ${size}\nSHA256: ${checksum.value}\n\n`;
}
