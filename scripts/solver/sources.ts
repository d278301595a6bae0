/**
 * The source trees to compile, from the environment or from Debian's packages, which are checked, unpacked and patched.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { command } from "../launch/command.ts";
import { Complaint } from "../launch/complaint.ts";
import { downloadWithApt } from "./apt.ts";
import { type SourceName, type SourcePackage, sourcePackages } from "./pins.ts";
import { downloadsFolder } from "./places.ts";

export type SourceTrees = Record<SourceName, string>;

/** Every source tree, ready to compile. Packages are unpacked below `folder`. */
export async function sourceTrees(folder: string): Promise<SourceTrees> {
  const fromDebian = sourcePackages.filter((source) => givenFolder(source) === undefined);
  await download(fromDebian, join(folder, "apt"));
  const trees = sourcePackages.map(async (source): Promise<[SourceName, string]> => {
    return [source.name, givenFolder(source) ?? (await unpack(source, folder))];
  });
  return Object.fromEntries(await Promise.all(trees)) as SourceTrees;
}

/** The tree that the environment names for this package, if any. */
export function givenFolder({ name, folderVariable }: SourcePackage): string | undefined {
  const folder = process.env[folderVariable];
  if (folder && !existsSync(folder))
    throw new Complaint(`${folderVariable}: no folder ${folder} with sources of ${name}.`);
  return folder || undefined;
}

async function download(sources: readonly SourcePackage[], aptFolder: string): Promise<void> {
  mkdirSync(downloadsFolder, { recursive: true });
  const missing = sources.filter((source) => !isDownloaded(source));
  if (missing.length === 0) return;
  const names = missing.map(({ name, version }) => `${name} ${version}`).join(", ");
  console.log(`solver: fetching the sources of ${names}`);
  try {
    await downloadWithApt(missing, downloadsFolder, aptFolder);
  } catch (error) {
    const ways = missing.map(({ name, folderVariable }) => `${folderVariable} (${name})`).join(", ");
    throw new Complaint(
      `apt could not fetch the sources: ${String(error)}\nInstead, set these variables to unpacked, patched trees: ${ways}.`,
    );
  }
  for (const source of missing) checkDigests(source);
}

const descriptionFile = ({ name, version }: SourcePackage) => `${name}_${version}.dsc`;

function isDownloaded(source: SourcePackage): boolean {
  const names = [descriptionFile(source), ...Object.keys(source.files)];
  return names.every((name) => existsSync(join(downloadsFolder, name))) && wrongFile(source) === undefined;
}

function checkDigests(source: SourcePackage): void {
  const wrong = wrongFile(source);
  if (wrong)
    throw new Complaint(`${wrong} is not the file that sources.json pins for ${source.name} ${source.version}.`);
}

function wrongFile({ files }: SourcePackage): string | undefined {
  return Object.entries(files).find(([name, pinned]) => digestOf(name) !== pinned)?.[0];
}

const digestOf = (name: string): string =>
  createHash("sha256")
    .update(readFileSync(join(downloadsFolder, name)))
    .digest("hex");

/** dpkg-source applies Debian's patches. It does not check the signature, because the digests are pinned. */
async function unpack(source: SourcePackage, folder: string): Promise<string> {
  const tree = join(folder, source.name);
  await command("dpkg-source", ["--no-check", "-x", join(downloadsFolder, descriptionFile(source)), tree]);
  return tree;
}
