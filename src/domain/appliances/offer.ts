import type { BaseSystemFacts } from "#model/catalogue";
import { listBaseSystems } from "#storage/appliances";
import type { Database } from "#storage/db";
import { listUnimported, type Repository } from "#storage/repositories";
import { listTemplatesWithSizes, type TemplateWithSizes } from "#storage/template-sets";

/** A base system with its templates, as a page offers them. The API lists them by set, in the order that old clients expect. */
export interface OfferedBase {
  name: string;
  facts: Pick<BaseSystemFacts, "title" | "support" | "isToy">;
  templates: TemplateWithSizes[];
  /** Repositories that were never imported. Until they are, no clone can be built. */
  missing: Repository[];
}

/** Base systems that have templates: the one that is supported longest first, toys last. */
export async function listOffer(db: Database): Promise<OfferedBase[]> {
  const [templates, known] = await Promise.all([listTemplatesWithSizes(db), listBaseSystems(db)]);
  const missing = await listUnimported(db, [...new Set(templates.map(({ catalogue }) => catalogue))]);
  const ofBase = Map.groupBy(templates, ({ baseSystem }) => baseSystem);
  return known
    .flatMap(({ name, catalogue, facts }) => {
      const own = ofBase.get(name);
      const lacking = missing.filter((one) => one.catalogue === catalogue);
      return own === undefined ? [] : [{ name, facts, templates: own, missing: lacking }];
    })
    .toSorted(byUse);
}

/** The template to begin with, unless someone chooses another: of a base system whose repositories can be read. */
export function preselected(bases: readonly OfferedBase[]): TemplateWithSizes | undefined {
  const [base] = [...bases.filter(({ missing }) => missing.every(({ problem }) => problem === null)), ...bases];
  return base?.templates[0];
}

function byUse({ facts: one }: OfferedBase, { facts: other }: OfferedBase): number {
  const isToy = one.isToy === true;
  if (isToy !== (other.isToy === true)) return isToy ? 1 : -1;
  const [ends, otherEnds] = [one.support?.until ?? "", other.support?.until ?? ""];
  if (ends !== otherEnds) return ends > otherEnds ? -1 : 1;
  return one.title < other.title ? -1 : 1;
}
