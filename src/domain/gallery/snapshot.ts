import { nvra, versionRelease, type FrozenInput, type InstalledPackage } from "#lib/contract/index";
import { loginsIn } from "#domain/configuration/known-passwords";
import { withoutPasswords } from "#domain/configuration/secrets";
import type { Services } from "#domain/services";
import type { EncryptionKey } from "#domain/secrets";
import { Refusal } from "#domain/refusal";
import { configurationOf } from "#lib/configuration/stored";
import type { PublishedDefinition, PublishedItem, PublishedRepository, PublishedSoftware } from "#model/published";
import { listApplianceRepositories, listSelection, type Appliance } from "#storage/appliances";
import { findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { listGpgKeys } from "#storage/gpg-keys";
import { listOverlayFiles } from "#storage/overlay-files";
import { listVersions } from "#storage/packages";
import { rereadRepositories, type Repository } from "#storage/repositories";

/** The appliance's current definition, which clones get, and the users of the image that is being published. */
export async function definitionOf(
  { env, db }: Services<EncryptionKey>,
  appliance: Appliance,
  input: FrozenInput,
): Promise<PublishedDefinition> {
  const [accounts, repositories, selection, keys, files] = await Promise.all([
    loginsIn({ env, db }, appliance, input),
    listApplianceRepositories(db, appliance.id),
    listSelection(db, appliance.id),
    listGpgKeys(db, appliance.id),
    listOverlayFiles(db, appliance.id),
  ]);
  return {
    configuration: await withoutPasswords(configurationOf(appliance)),
    accounts,
    repositoryIds: repositories.map(({ id }) => id),
    selection: selection.map(({ kind, name, version, repositoryId }) => ({ kind, name, version, repositoryId })),
    gpgKeys: keys.map(({ name, target, fingerprint, key }) => ({ name, target, fingerprint, key })),
    hasOverlayFiles: files.some(({ enabled }) => enabled),
    estimatedRawMb: appliance.estimatedRawMb,
    estimatedCompressedMb: appliance.estimatedCompressedMb,
  };
}

/** The packages that a finished build installed, and which of them were selected. */
export async function softwareIn(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { uid }: Build,
  input: FrozenInput,
): Promise<PublishedSoftware> {
  const found = await findInstalled(env.BLOBS, uid);
  if (!found) throw new Refusal("build_not_found");
  const repositories = await rereadRepositories(db, input.repositories);
  const packages = packagesIn(found, input, await sizesOf(db, input, repositories));
  const patterns = patternsIn(input);
  const byName = new Map(packages.map((item) => [item.name, item]));
  const chosen = input.selection.packages.flatMap(({ name }) => byName.get(name) ?? []);
  return {
    repositories: repositoriesIn(input, repositories),
    selected: [...chosen, ...patterns],
    installed: [...packages, ...patterns],
  };
}

function packagesIn(
  installed: InstalledPackage[],
  input: FrozenInput,
  sizes: ReadonlyMap<string, number>,
): PublishedItem[] {
  const from = new Map(input.packages.map((one) => [nvra(one), repositoryIndexOf(input, one)]));
  return installed.map((one) => {
    const bytes = sizes.get(nvra(one));
    return {
      kind: "package",
      name: one.name,
      version: versionRelease(one),
      repository: from.get(nvra(one)) ?? -1,
      ...(bytes !== undefined && { bytes }),
    };
  });
}

/** The installed size of each package that the repositories still have, as they report it. */
async function sizesOf(
  db: Database,
  { packages }: FrozenInput,
  repositories: readonly Repository[],
): Promise<Map<string, number>> {
  const found = await listVersions(db, {
    repositories,
    arches: [...new Set(packages.map(({ arch }) => arch))],
    names: packages.map(({ name }) => name),
  });
  return new Map(found.map((one) => [nvra(one), one.installSizeBytes]));
}

function patternsIn(input: FrozenInput): PublishedItem[] {
  return (input.patterns ?? []).map((one) => ({
    kind: "pattern",
    name: one.name,
    version: versionRelease(one),
    repository: repositoryIndexOf(input, one),
  }));
}

const repositoryIndexOf = ({ repositories }: FrozenInput, { repository }: { repository: string }): number =>
  repositories.findIndex(({ alias }) => alias === repository);

function repositoriesIn({ repositories }: FrozenInput, now: readonly Repository[]): PublishedRepository[] {
  const rows = new Map(now.map((row) => [row.id, row]));
  return repositories.map(({ id, name }) => ({
    name,
    trusted: rows.get(id)?.accountId === null,
    uploads: rows.get(id)?.isUserRepository ?? false,
  }));
}
