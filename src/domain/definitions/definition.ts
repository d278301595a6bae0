import type { definition, wantedDefinition } from "#lib/definition/document";
import { shownPermissions } from "#lib/contract/file-mode";
import { overlayPath } from "#domain/contents/overlay-file-metadata";
import { pinOf, repositoryOf } from "#domain/definitions/repositories";
import { type Configuration, configurationOf } from "#lib/configuration/stored";
import { listApplianceRepositories, listSelection, type Appliance, type Selection } from "#storage/appliances";
import type { Repository } from "#storage/repositories";
import type { Database } from "#storage/db";
import { listGpgKeys, type GpgKey } from "#storage/gpg-keys";
import { listOverlayFiles, type OverlayFile } from "#storage/overlay-files";

export type Definition = Parameters<NonNullable<(typeof definition)["writes"]>>[0];
/** Any part of a definition. */
export type WantedDefinition = NonNullable<(typeof wantedDefinition)["reads"]>;

/** The contents of an appliance's rows. */
export interface Contents {
  identity: Pick<Appliance, "name" | "version" | "imageType">;
  configuration: Configuration;
  repositories: Repository[];
  selection: Pick<Selection, "kind" | "name" | "version" | "repositoryId">[];
  files: Omit<OverlayFile, "id" | "applianceId" | "createdAt" | "requestId">[];
  keys: Pick<GpgKey, "name" | "target" | "fingerprint" | "key">[];
}

export async function readContents(db: Database, appliance: Appliance): Promise<Contents> {
  const [repositories, selection, files, keys] = await Promise.all([
    listApplianceRepositories(db, appliance.id),
    listSelection(db, appliance.id),
    listOverlayFiles(db, appliance.id),
    listGpgKeys(db, appliance.id),
  ]);
  return {
    identity: appliance,
    configuration: configurationOf(appliance),
    repositories,
    selection: kinds.flatMap((kind) => selection.filter((one) => one.kind === kind)),
    files,
    keys,
  };
}

/** The kinds of entries, in the order of a definition. */
export const kinds = ["package", "pattern", "ban"] as const satisfies readonly Selection["kind"][];

/** The contents, in a form that means the same on every service. URLs of the service begin with `baseUrl`. */
export function definitionOf(
  { id, baseSystem, arch }: Pick<Appliance, "id" | "baseSystem" | "arch">,
  { identity, configuration, repositories, selection, files, keys }: Contents,
  baseUrl: string,
): Definition {
  const { name, version, imageType } = identity;
  const chosen = (kind: Selection["kind"]) =>
    selection
      .filter((one) => one.kind === kind)
      .map(({ name, version, repositoryId }) => {
        const pinned = repositories.find(({ id }) => id === repositoryId);
        return { name, version, repository: pinned && pinOf(pinned, repositories, baseUrl) };
      });
  return {
    id,
    name,
    baseSystem,
    arch,
    version,
    imageType,
    configuration,
    repositories: repositories.map((one) => repositoryOf(one, baseUrl)),
    packages: chosen("package"),
    patterns: chosen("pattern"),
    bans: chosen("ban"),
    files: files.map(fileOf),
    // Every line ends with LF, as for a reader of the document.
    gpgKeys: keys.map(({ name, target, key }) => ({ name, target, key: key.replaceAll(/\r\n?/g, "\n") })),
  };
}

const fileOf = (file: Contents["files"][number]) => {
  const { owner, group, permissions, enabled, size, sha256 } = file;
  return { path: overlayPath(file), owner, group, permissions: shownPermissions(permissions), enabled, size, sha256 };
};
