import type { PackageType } from "#lib/contract/index";
import { packageTypeOfBase } from "#model/catalogue";
import { findBaseSystem } from "#storage/appliances";
import type { Database } from "#storage/db";

/** How advisories name a base system, and which order its versions have. */
export interface AdvisedBase {
  /** Empty if no feed has it. */
  releases: readonly string[];
  type: PackageType;
}

export async function advisedBase(db: Database, baseSystem: string): Promise<AdvisedBase> {
  const base = await findBaseSystem(db, baseSystem);
  return { releases: base?.facts.advisories ?? [], type: base ? packageTypeOfBase(base.facts) : "rpm" };
}
