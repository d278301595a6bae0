import type { LimitsEnv } from "#domain/accounts/limits";
import { changesBetween, passwordChanges, type DefinitionChange } from "#domain/definitions/changes";
import { definitionOf, readContents, type Contents, type WantedDefinition } from "#domain/definitions/definition";
import { wantedContents, type Reading } from "#domain/definitions/wanted";
import type { Services } from "#domain/services";
import type { EncryptionKey } from "#domain/secrets";
import { effectBetween, type SoftwareEffect } from "#domain/software/effect";
import type { ApplianceSoftware } from "#domain/software/resolution-request";
import type { Account } from "#storage/accounts";
import { findBaseSystem, type Appliance } from "#storage/appliances";

export type ApplyEnv = EncryptionKey & LimitsEnv & Pick<Env, "BLOBS" | "ACCOUNT_QUOTA_GB">;

/** A definition, the account that sends it, and the URL of the service. */
export interface DefinitionRequest {
  account: Account;
  wanted: WantedDefinition;
  /** The beginning of the service's URLs. */
  baseUrl: string;
}

export interface Plan {
  before: Contents;
  after: Contents;
  changes: DefinitionChange[];
}

/** The changes that a definition would make, and their effect on the image. */
export interface ShownPlan {
  changes: DefinitionChange[];
  software: SoftwareEffect;
}

/** Shows what `applyDefinition` would change. The signal aborts the resolution. */
export async function planDefinition(
  { env, db }: Services<ApplyEnv>,
  appliance: Appliance,
  request: DefinitionRequest & { signal: AbortSignal },
): Promise<ShownPlan> {
  const { before, after, changes } = await planOf({ env, db }, appliance, { ...request, missingContent: "assume" });
  const base = await findBaseSystem(db, appliance.baseSystem);
  const softwareOf = ({ identity, configuration, repositories, selection }: Contents): ApplianceSoftware => ({
    arch: appliance.arch,
    imageType: identity.imageType,
    settings: configuration.settings,
    baseSystem: base?.facts,
    repositories,
    selection,
  });
  const both = { software: softwareOf(before), wanted: softwareOf(after) };
  return { changes, software: await effectBetween({ env, db }, both, request.signal) };
}

/** The current contents and those that the definition asks for, and how they differ. */
export async function planOf(
  services: Services<EncryptionKey>,
  appliance: Appliance,
  { account, wanted, baseUrl, missingContent = "refuse" }: DefinitionRequest & Partial<Pick<Reading, "missingContent">>,
): Promise<Plan> {
  const before = await readContents(services.db, appliance);
  const after = await wantedContents(services, { account, appliance, baseUrl, missingContent }, { before, wanted });
  const shown = (contents: Contents) => definitionOf(appliance, contents, baseUrl);
  const changes = [
    ...(await changesBetween(shown(before), shown(after))),
    ...passwordChanges(before.configuration, after.configuration),
  ];
  return { before, after, changes };
}

/** The rows to store. Their columns are in a fixed order, so that equal rows are equal as JSON. */
export function allRowsOf({ identity, configuration, repositories, selection, files, keys }: Contents) {
  const { name, version, imageType } = identity;
  return {
    columns: { name, version, imageType, configuration },
    repositoryIds: repositories.map(({ id }) => id),
    selection: selection.map((one) => picked(one, ["kind", "name", "version", "repositoryId"])),
    files: files.map((one) => picked(one, fileColumns)),
    keys: keys.map((one) => picked(one, ["name", "target", "fingerprint", "key"])),
  };
}

const fileColumns = [
  "fileName",
  "path",
  "owner",
  "group",
  "permissions",
  "enabled",
  "size",
  "md5",
  "sha256",
  "blobId",
] as const;

const picked = <T, const K extends keyof T>(row: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<T, K>;
