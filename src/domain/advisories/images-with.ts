import type { Database } from "#storage/db";
import { listImagesWith, listPackageVersions, type ImageWith, type PackageVersionRow } from "#storage/image-packages";

/** How many images one call lists (compatibility.md, "Lists"). */
export const maxListed = 1000;

export interface ImageFound extends ImageWith {
  /** The packages that were asked about, by name. */
  packages: FoundPackage[];
}

type FoundPackage = Pick<PackageVersionRow, "name" | "version" | "arch">;

interface Asked {
  accountId: number;
  only: number | null;
  before?: number | undefined;
}

/** The images of an account that have a package, newest first; with `version`, exactly this one. */
export async function imagesWithPackage(
  db: Database,
  { name, version, ...asked }: Asked & { name: string; version?: string | undefined },
): Promise<ImageFound[]> {
  const versions = await listPackageVersions(db, { name });
  const wanted = versions.filter((one) => version === undefined || one.version === version);
  return await imagesHaving(db, asked, wanted);
}

async function imagesHaving(
  db: Database,
  { before, ...asked }: Asked,
  wanted: readonly PackageVersionRow[],
): Promise<ImageFound[]> {
  if (wanted.length === 0) return [];
  const byId = new Map(wanted.map((one) => [one.id, one]));
  const packageIds = [...byId.keys()];
  const images = await listImagesWith(db, { ...asked, before, packageIds, limit: maxListed });
  return images.map((image) => ({ ...image, packages: image.packageIds.flatMap((id) => byId.get(id) ?? []) }));
}
