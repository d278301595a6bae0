import { addPlanned, planNew, type NewRequest } from "#domain/definitions/create";
import type { ApplyEnv } from "#domain/definitions/plan";
import { Refusal } from "#domain/refusal";
import { daysKnown, type Days } from "#domain/repositories/as-of";
import { schematicId, type CanonicalEnv } from "#domain/schematics/canonical";
import type { Services } from "#domain/services";
import { listApplianceRepositories, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { findSchematic, findSchematicOf } from "#storage/schematics";

/** A definition with a content address, and the account's appliance that was made from it. */
export interface Schematic {
  sha256: string;
  appliance: Appliance;
  /** The days for which its images can be built, from the repositories as they were then. */
  days: Days[];
}

type SchematicEnv = ApplyEnv & CanonicalEnv & Pick<Env, "KEEP_REPOSITORIES_DAYS">;

/**
 * Stores the schematic of a definition. The first time, the account gets an appliance that is made from it. The same
 * definition always has the same id, whatever it omits.
 */
export async function storeSchematic(
  services: Services<SchematicEnv>,
  request: Omit<NewRequest, "isNameNew">,
): Promise<Schematic> {
  const { account, baseUrl } = request;
  const planned = await planNew(services, request);
  const sha256 = await schematicId(services.env, { ...planned, appliance: planned.start, baseUrl });
  const appliance =
    (await findSchematic(services.db, account.id, sha256)) ??
    (await addPlanned(services, { ...request, schematic: sha256 }, planned));
  return await shown(services, sha256, appliance);
}

/** Refused if the account has not posted the schematic, or has since changed or deleted its appliance. */
export async function getSchematic(
  services: Services<SchematicEnv>,
  accountId: number,
  sha256: string,
): Promise<Schematic> {
  const appliance = await findOwnSchematic(services.db, accountId, sha256);
  if (!appliance) throw noSchematic(sha256);
  return await shown(services, sha256, appliance);
}

/** The schematic that an appliance was made from. Undefined once the appliance has been changed. */
export async function schematicOf(
  services: Services<Pick<Env, "BLOBS" | "KEEP_REPOSITORIES_DAYS">>,
  appliance: Appliance,
): Promise<Schematic | undefined> {
  const sha256 = await findSchematicOf(services.db, appliance);
  return sha256 === undefined ? undefined : await shown(services, sha256, appliance);
}

/** Finds a schematic of the account. The id is part of an address, so it may be any text. */
export const findOwnSchematic = async (
  db: Database,
  accountId: number,
  sha256: string,
): Promise<Appliance | undefined> =>
  /^[0-9a-f]{64}$/.test(sha256) ? await findSchematic(db, accountId, sha256) : undefined;

async function shown(
  services: Services<Pick<Env, "BLOBS" | "KEEP_REPOSITORIES_DAYS">>,
  sha256: string,
  appliance: Appliance,
): Promise<Schematic> {
  const repositories = await listApplianceRepositories(services.db, appliance.id);
  return { sha256, appliance, days: await daysKnown(services, repositories) };
}

/** The refusal for an unknown schematic. The specification has no code for it. */
export const noSchematic = (sha256: string) =>
  new Refusal("unknown_error", {
    reason: "unknown",
    message:
      `You have no schematic ${sha256.slice(0, 64)}. Send its definition with POST schematics. ` +
      "If you change or delete the appliance that was made from it, send it again.",
  });
