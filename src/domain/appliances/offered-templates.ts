import type { Database } from "#storage/db";
import { listUnimported, type Repository } from "#storage/repositories";
import type { TemplateSet } from "#storage/template-sets";

type Template = TemplateSet["templates"][number];

/** A set whose templates list the repositories of their catalogue that were never imported. Until they are, no clone can be built. */
export type OfferedSet = Omit<TemplateSet, "templates"> & { templates: (Template & { importing: Repository[] })[] };

export async function offered(db: Database, sets: readonly TemplateSet[]): Promise<OfferedSet[]> {
  const catalogues = new Set(sets.flatMap(({ templates }) => templates.map(({ catalogue }) => catalogue)));
  const missing = await listUnimported(db, [...catalogues]);
  const importing = (of: string) => missing.filter(({ catalogue }) => catalogue === of);
  return sets.map((set) => ({
    ...set,
    templates: set.templates.map((one) => ({ ...one, importing: importing(one.catalogue) })),
  }));
}
