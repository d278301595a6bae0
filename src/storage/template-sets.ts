import { and, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { templates, templateSets } from "./schema.ts";

export type TemplateSet = typeof templateSets.$inferSelect & { templates: (typeof templates.$inferSelect)[] };

/** All sets with their visible templates; `default` first, because a client takes the first whatever it is called. */
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
