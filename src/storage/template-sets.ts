import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { listBaseSystems } from "./appliances.ts";
import type { Database } from "./db.ts";
import { appliances, repositories, templates, templateSets } from "./schema.ts";

export type TemplateSet = typeof templateSets.$inferSelect & { templates: (typeof templates.$inferSelect)[] };

/**
 * All sets with their visible templates. The set `default` comes first, because a client takes the first one, whatever
 * its name.
 */
export async function listTemplateSets(db: Database): Promise<TemplateSet[]> {
  const [sets, all] = await db.batch([
    db.query.templateSets.findMany({ orderBy: [sql`name <> 'default'`, templateSets.position, templateSets.name] }),
    db.query.templates.findMany({ where: eq(templates.hidden, false), orderBy: templates.position }),
  ]);
  return sets.map((set) => ({ ...set, templates: all.filter(({ templateSet }) => templateSet === set.name) }));
}

export async function findTemplateSet(db: Database, name: string): Promise<TemplateSet | undefined> {
  // findMany: drizzle's findFirst fails on an empty answer inside a batch.
  const [[set], members] = await db.batch([
    db.query.templateSets.findMany({ where: eq(templateSets.name, name) }),
    db.query.templates.findMany({
      where: and(eq(templates.templateSet, name), eq(templates.hidden, false)),
      orderBy: templates.position,
    }),
  ]);
  return set && { ...set, templates: members };
}

/** Visible templates in the order of their sets, each with the sizes of its images. */
const templatesWithSizes = (db: Database) =>
  db
    .select({
      applianceId: templates.applianceId,
      name: templates.name,
      description: templates.description,
      baseSystem: templates.baseSystem,
      catalogue: templates.catalogue,
      downloadMb: appliances.estimatedCompressedMb,
      diskMb: sql<number>`json_extract(${appliances.configuration}, '$.settings.diskSizeMb')`,
    })
    .from(templates)
    .innerJoin(appliances, eq(appliances.id, templates.applianceId))
    .innerJoin(templateSets, eq(templateSets.name, templates.templateSet))
    .where(eq(templates.hidden, false))
    .orderBy(sql`${templateSets.name} <> 'default'`, templateSets.position, templateSets.name, templates.position);

export type TemplateWithSizes = Awaited<ReturnType<typeof templatesWithSizes>>[number];

/**
 * The templates and base systems, the repositories of their catalogues that have no import yet, and the architectures
 * of all these repositories.
 */
export async function listOffered(db: Database) {
  const isOffered = sql`${repositories.catalogue} IN (SELECT catalogue FROM templates)`;
  const [offered, bases, missing, served] = await db.batch([
    templatesWithSizes(db),
    listBaseSystems(db),
    db.query.repositories.findMany({
      where: and(isOffered, isNull(repositories.revision)),
      orderBy: asc(repositories.id),
    }),
    db.select({ catalogue: repositories.catalogue, arches: repositories.arches }).from(repositories).where(isOffered),
  ]);
  return { templates: offered, bases, missing, served };
}
