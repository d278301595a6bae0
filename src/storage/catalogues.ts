import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { FrozenKey } from "#lib/contract/index";
import type { Catalogue } from "#model/catalogue";
import { fromJson, type Database } from "./db.ts";
import { nextEdit } from "./edits.ts";
import { insertFrom } from "./inserts.ts";
import {
  applianceRepositories,
  appliances,
  baseSystems,
  repositories,
  selections,
  templates,
  templateSets,
} from "./schema.ts";

/** The version of an appliance's first build. */
export const firstVersion = "0.0.1";

type Statement = BatchItem<"sqlite">;
type Template = Catalogue["sets"][number]["templates"][number] & { set: string; position: number };

/** Which of these template ids other catalogues already use. */
export async function listForeignTemplates(db: Database, catalogue: string, ids: number[]): Promise<number[]> {
  const rows = await db
    .select({ id: templates.applianceId })
    .from(templates)
    .where(and(inArray(templates.applianceId, ids), ne(templates.catalogue, catalogue)));
  return rows.map(({ id }) => id);
}

/**
 * Replaces the stored catalogue in one batch: upserts by id, and hides templates that are no longer in it. Finds
 * repositories by (catalogue, URL), so that a reload keeps their ids.
 */
export async function saveCatalogue(db: Database, catalogue: Catalogue, keys: FrozenKey[]): Promise<void> {
  const members = catalogue.sets.flatMap(({ name, templates }) =>
    templates.map((template, position): Template => ({ ...template, set: name, position })),
  );
  await db.batch([
    saveBaseSystem(db, catalogue),
    hideMissing(db, catalogue, members),
    ...saveRepositories(db, catalogue, keys),
    ...saveSets(db, catalogue),
    ...members.flatMap((template) => saveTemplate(db, catalogue, template)),
  ]);
}

function saveBaseSystem(db: Database, catalogue: Catalogue): Statement {
  const { name, ...facts } = catalogue.baseSystem;
  const row = { name, catalogue: catalogue.name, facts };
  return db.insert(baseSystems).values(row).onConflictDoUpdate({ target: baseSystems.name, set: row });
}

function hideMissing(db: Database, catalogue: Catalogue, members: Template[]): Statement {
  const kept = members.map(({ applianceId }) => applianceId);
  return db
    .update(templates)
    .set({ hidden: true })
    .where(sql`${templates.catalogue} = ${catalogue.name} AND ${templates.applianceId} NOT IN ${fromJson(kept)}`);
}

const saveRepositories = (db: Database, catalogue: Catalogue, keys: FrozenKey[]): Statement[] =>
  catalogue.repositories.map(({ key: _key, ...repository }) => {
    const { snapshots = null, purpose = null } = repository;
    const known = {
      ...repository,
      snapshots,
      purpose,
      baseSystem: catalogue.baseSystem.name,
      catalogue: catalogue.name,
    };
    // Repositories of the other types have their keys next to their index.
    const row = repository.type === "deb" ? { ...known, signingKeys: keys } : known;
    return db
      .insert(repositories)
      .values(row)
      .onConflictDoUpdate({ target: [repositories.catalogue, repositories.url], set: row });
  });

const saveSets = (db: Database, catalogue: Catalogue): Statement[] =>
  catalogue.sets.map(({ name, description }, position) => {
    const row = { name, description, position, catalogue: catalogue.name };
    return db.insert(templateSets).values(row).onConflictDoUpdate({ target: templateSets.name, set: row });
  });

function saveTemplate(db: Database, catalogue: Catalogue, template: Template): Statement[] {
  return [
    saveTemplateAppliance(db, catalogue, template),
    saveMembership(db, catalogue, template),
    ...replaceRepositories(db, catalogue, template),
    ...replaceSelection(db, template),
  ];
}

function saveTemplateAppliance(db: Database, catalogue: Catalogue, template: Template): Statement {
  const { name, arch, imageType, configuration, estimatedRawMb, estimatedCompressedMb } = template;
  const baseSystem = catalogue.baseSystem.name;
  const row = { name, arch, imageType, configuration, estimatedRawMb, estimatedCompressedMb, baseSystem };
  const now = new Date();
  return db
    .insert(appliances)
    .values({
      ...row,
      id: template.applianceId,
      uuid: crypto.randomUUID(),
      version: firstVersion,
      createdAt: now,
      lastEditedAt: now,
    })
    .onConflictDoUpdate({ target: appliances.id, set: { ...row, lastEditedAt: nextEdit() } });
}

function saveMembership(db: Database, catalogue: Catalogue, template: Template): Statement {
  const { applianceId, name, description, position } = template;
  const place = { templateSet: template.set, name, description, position, catalogue: catalogue.name, hidden: false };
  const row = { ...place, baseSystem: catalogue.baseSystem.name };
  return db
    .insert(templates)
    .values({ ...row, applianceId })
    .onConflictDoUpdate({ target: templates.applianceId, set: row });
}

function replaceRepositories(db: Database, catalogue: Catalogue, template: Template): Statement[] {
  const urls = template.repositories.map((key) => catalogue.repositories.find((one) => one.key === key)?.url);
  return [
    db.delete(applianceRepositories).where(eq(applianceRepositories.applianceId, template.applianceId)),
    ...urls.map((url, position) =>
      insertFrom(
        db,
        applianceRepositories,
        { applianceId: template.applianceId, repositoryId: sql`id`, position },
        sql`FROM repositories WHERE catalogue = ${catalogue.name} AND url = ${url}`,
      ),
    ),
  ];
}

function replaceSelection(db: Database, { applianceId, packages, patterns }: Template): Statement[] {
  const rows = [
    ...packages.map((name) => ({ applianceId, kind: "package" as const, name })),
    ...patterns.map((name) => ({ applianceId, kind: "pattern" as const, name })),
  ];
  return [
    db.delete(selections).where(eq(selections.applianceId, applianceId)),
    ...rows.map((row) => db.insert(selections).values(row)),
  ];
}
