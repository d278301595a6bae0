import type { PackageType } from "#lib/contract/index";
import { packageTypeOfBase } from "#model/catalogue";
import { findBaseSystem } from "#storage/appliances";
import type { Database } from "#storage/db";

/** The names that advisories use for a base system, and the order of its versions. */
export interface AdvisedBase {
  /** Empty if no feed covers the base system. */
  releases: readonly string[];
  type: PackageType;
}

export async function advisedBase(db: Database, baseSystem: string): Promise<AdvisedBase> {
  const base = await findBaseSystem(db, baseSystem);
  return { releases: base?.facts.advisories ?? [], type: base ? packageTypeOfBase(base.facts) : "rpm" };
}
