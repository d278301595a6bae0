import { asc, inArray, sql } from "drizzle-orm";
import type { BatchResponse } from "drizzle-orm/batch";
import type { Configuration } from "#lib/configuration/stored";
import type { Appliance, BaseSystem, Selection } from "./appliances.ts";
import { listTemplateConfigurations } from "./configurations.ts";
import { fromJson, type Database } from "./db.ts";
import { repositoryColumns, type Repository } from "./repositories.ts";
import { applianceRepositories, baseSystems, repositories, selections } from "./schema.ts";

/** The rows that decide the software of an appliance's image, apart from the appliance's own. */
export interface SoftwareRows {
  /** Undefined if no catalogue has the base system any longer. */
  base: BaseSystem | undefined;
  /** In the appliance's order. */
  repositories: Repository[];
  selection: Selection[];
  /** The configuration of the template that the appliance descends from. Undefined if an ancestor is gone. */
  template: Configuration | undefined;
}

type Asked = Pick<Appliance, "id" | "baseSystem">;

/** The rows of each of these appliances, in their order, read in one round trip. */
export async function listSoftware<One extends Asked>(
  db: Database,
  appliances: readonly One[],
): Promise<({ appliance: One } & SoftwareRows)[]> {
  return softwareIn(appliances, await db.batch(softwareStatements(db, appliances)));
}

/** The statements that read these rows, for a batch that also reads other rows. */
export function softwareStatements(db: Database, appliances: readonly Asked[]) {
  const all = appliances.map(({ id }) => id);
  const ids = fromJson(all);
  const names = fromJson([...new Set(appliances.map(({ baseSystem }) => baseSystem))]);
  return [
    db.select().from(baseSystems).where(inArray(baseSystems.name, names)),
    db
      .select()
      .from(applianceRepositories)
      .where(inArray(applianceRepositories.applianceId, ids))
      .orderBy(asc(applianceRepositories.position)),
    db
      .select(repositoryColumns)
      .from(repositories)
      .where(
        inArray(repositories.id, sql`(SELECT repository_id FROM appliance_repositories WHERE appliance_id IN ${ids})`),
      ),
    db.select().from(selections).where(inArray(selections.applianceId, ids)).orderBy(asc(selections.id)),
    listTemplateConfigurations(db, all),
  ] as const;
}

type SoftwareResults = BatchResponse<ReturnType<typeof softwareStatements>>;

export function softwareIn<One extends Asked>(
  appliances: readonly One[],
  [bases, added, found, selected, templates]: SoftwareResults,
): ({ appliance: One } & SoftwareRows)[] {
  const templateOf = new Map(templates.map(({ applianceId, configuration }) => [applianceId, configuration]));
  const baseNamed = new Map(bases.map((base) => [base.name, base]));
  const repositoryOf = new Map(found.map((repository) => [repository.id, repository]));
  const addedTo = Map.groupBy(added, ({ applianceId }) => applianceId);
  const selectedIn = Map.groupBy(selected, ({ applianceId }) => applianceId);
  return appliances.map((appliance) => ({
    appliance,
    base: baseNamed.get(appliance.baseSystem),
    repositories: (addedTo.get(appliance.id) ?? []).flatMap(({ repositoryId }) => repositoryOf.get(repositoryId) ?? []),
    selection: selectedIn.get(appliance.id) ?? [],
    template: templateOf.get(appliance.id),
  }));
}
