import { architectures, type Arch } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import type { BaseSystemFacts } from "#model/catalogue";
import type { Database } from "#storage/db";
import type { Repository } from "#storage/repositories";
import { listOffered, type TemplateWithSizes } from "#storage/template-sets";

/**
 * A base system with its templates, as the pages show them. The API lists templates by set, in the order that old
 * clients expect.
 */
export interface OfferedBase {
  name: string;
  facts: Pick<BaseSystemFacts, "title" | "support" | "isToy">;
  templates: TemplateWithSizes[];
  /** The architectures that the base system's repositories have packages for. */
  arches: Arch[];
  /** Repositories that were never imported. Until they are imported, no clone can be built. */
  missing: Repository[];
}

/** Base systems that have templates, sorted by the end of their support, the latest first. Toy systems come last. */
export async function listOffer(db: Database): Promise<OfferedBase[]> {
  const { templates, bases, missing, served } = await listOffered(db);
  const ofBase = Map.groupBy(templates, ({ baseSystem }) => baseSystem);
  return bases
    .flatMap(({ name, catalogue, facts }) => {
      const own = ofBase.get(name);
      const lacking = missing.filter((one) => one.catalogue === catalogue);
      const arches = served.flatMap((one) => (one.catalogue === catalogue ? one.arches : []));
      return own === undefined ? [] : [{ name, facts, templates: own, arches: [...new Set(arches)], missing: lacking }];
    })
    .toSorted(byUse);
}

/**
 * The architecture that the page's form means. If the template's base system has only one, it is used: the page then
 * hides the others, but one of them may be selected. Otherwise, an architecture without packages is refused. The API,
 * in contrast, does create such a clone, and its status has the reason.
 */
export async function servedArch(
  db: Database,
  { cloneFrom, arch }: { cloneFrom: number; arch: Arch | undefined },
): Promise<Arch | undefined> {
  if (arch === undefined) return undefined;
  const base = (await listOffer(db)).find(({ templates }) => templates.some((one) => one.applianceId === cloneFrom));
  if (!base || base.arches.includes(arch)) return arch;
  const [only, ...others] = base.arches;
  if (only !== undefined && others.length === 0) return only;
  throw new Refusal("invalid_architecture", {
    message: `${base.facts.title} has no packages for ${architectures[arch].name}.`,
  });
}

/** The template that is preselected: one of a base system whose repositories can be read. */
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
