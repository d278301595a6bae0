import { affectedBy, isCalled, type Affected } from "#domain/advisories/affected";
import { Refusal } from "#domain/refusal";
import { rest } from "#lib/loop/pace";
import { packageTypeOfBase } from "#model/catalogue";
import { listAdvisoriesOf, listFeeds } from "#storage/advisories";
import { listBaseSystems } from "#storage/appliances";
import type { Database } from "#storage/db";
import { listImagesWith, listPackageVersions, type ImageWith, type PackageVersionRow } from "#storage/image-packages";

/** How many images one call lists (compatibility.md, "Lists"). */
export const maxListed = 1000;

export interface ImageFound extends ImageWith {
  /** Those of the requested packages that the image has, by name. */
  packages: FoundPackage[];
}

interface FoundPackage extends Pick<PackageVersionRow, "id" | "name" | "version" | "arch"> {
  /** How the advisory affects the image. Undefined if the search was for a package. */
  state?: Affected["state"] | undefined;
  /** The version of the source package that fixes the advisory. */
  fixed?: string | undefined;
}

interface Asked {
  accountId: number;
  only: number | null;
  before?: number | undefined;
}

/** The images of an account that have a package, newest first; with `version`, exactly that version. */
export async function imagesWithPackage(
  db: Database,
  { name, version, ...asked }: Asked & { name: string; version?: string | undefined },
): Promise<ImageFound[]> {
  const versions = await listPackageVersions(db, { name });
  const wanted = versions.filter((one) => version === undefined || one.version === version);
  return await imagesHaving(db, asked, wanted);
}

/** The images of an account that an advisory affects, newest first. Refused if no feed has the advisory. */
export async function imagesWithAdvisory(
  db: Database,
  { id, ...asked }: Asked & { id: string },
): Promise<ImageFound[]> {
  const rows = (await listAdvisoriesOf(db, id)).filter(({ advisories }) => advisories.some((one) => isCalled(one, id)));
  if (rows.length === 0) throw await unknownAdvisory(db, id);
  const bases = new Map((await listBaseSystems(db)).map(({ name, facts }) => [name, facts]));
  const found: FoundPackage[] = [];
  for (const source of new Set(rows.map((row) => row.source))) {
    for (const version of await listPackageVersions(db, { source })) {
      const base = bases.get(version.baseSystem);
      const theirs = rows.filter(({ release }) => base?.advisories?.includes(release));
      const [affected] = affectedBy([version], theirs, { type: packageTypeOfBase(base ?? {}), only: id });
      if (affected) found.push({ ...version, state: affected.state, fixed: affected.fixed });
      await rest();
    }
  }
  return await imagesHaving(db, asked, found);
}

async function unknownAdvisory(db: Database, id: string): Promise<Refusal> {
  const read = (await listFeeds(db)).flatMap(({ feed, readAt }) =>
    readAt ? [`${feed}, read on ${readAt.toISOString().slice(0, 10)}`] : [],
  );
  const known = read.length === 0 ? "The operator has imported no advisories." : `Its feeds: ${read.join("; ")}.`;
  return new Refusal("invalid_value", { message: `Kiln does not know the advisory ${id}. ${known}` });
}

async function imagesHaving(
  db: Database,
  { before, ...asked }: Asked,
  wanted: readonly FoundPackage[],
): Promise<ImageFound[]> {
  if (wanted.length === 0) return [];
  const byId = new Map(wanted.map((one) => [one.id, one]));
  const packageIds = [...byId.keys()];
  const images = await listImagesWith(db, { ...asked, before, packageIds, limit: maxListed });
  return images.map((image) => ({ ...image, packages: image.packageIds.flatMap((id) => byId.get(id) ?? []) }));
}
