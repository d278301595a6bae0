import { and, asc, eq, gt, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { deletePackages } from "./packages.ts";
import { imports, repositoryStates } from "./schema.ts";

export type MadeImport = typeof imports.$inferSelect;
/** Contents are identified by a URL and the checksum of its index. */
export type Contents = Pick<MadeImport, "url" | "revision">;
/** The facts that reading the contents has produced. */
export type ImportFacts = Pick<MadeImport, "parts" | "packageCount" | "bytes" | "arches" | "baseSystem" | "workMs">;

/** The import of these contents that any repository may show. */
export const findMadeImport = (db: Database, { url, revision }: Contents): Promise<MadeImport | undefined> =>
  db.query.imports.findFirst({
    where: and(eq(imports.url, url), eq(imports.revision, revision), isNotNull(imports.madeAt)),
  });

export const findImport = (db: Database, id: string): Promise<MadeImport | undefined> =>
  db.query.imports.findFirst({ where: eq(imports.id, id) });

/** Adds an import before its first package. */
export async function beginContents(db: Database, id: string, { url, revision }: Contents): Promise<void> {
  await db.insert(imports).values({ id, url, revision, begunAt: new Date() });
}

/** Allows repositories to show an import. Undefined if another import of the same contents finished first. */
export async function finishContents(db: Database, id: string, facts: ImportFacts): Promise<MadeImport | undefined> {
  const faster = sql`SELECT 1 FROM imports AS other WHERE other.made_at IS NOT NULL
    AND other.url = ${imports.url} AND other.revision = ${imports.revision}`;
  const [made] = await db
    .update(imports)
    .set({ ...facts, madeAt: new Date() })
    .where(and(eq(imports.id, id), sql`NOT EXISTS (${faster})`))
    .returning();
  return made;
}

/**
 * Removes an import with its packages, unless a repository shows it. Returns whether it was removed. The sweep removes
 * the parts, which may still be in use. From the first statement on, no repository can begin to show the import.
 */
export async function releaseImport(db: Database, id: string): Promise<boolean> {
  const [released] = await db
    .update(imports)
    .set({ madeAt: null })
    .where(and(eq(imports.id, id), isUnused))
    .returning({ id: imports.id });
  if (!released) return false;
  await deletePackages(db, id);
  await db.delete(imports).where(and(eq(imports.id, id), isNull(imports.madeAt)));
  return true;
}

/** The next imports after an id that began before that moment and are shown by no repository. */
export async function listUnusedAfter(
  db: Database,
  { id, before, limit }: { id: string; before: Date; limit: number },
): Promise<{ unused: string[]; next: string | undefined }> {
  const page = await db
    .select({ id: imports.id, isUnused: sql<number>`${isUnused} AND begun_at < ${before.getTime()}` })
    .from(imports)
    .where(gt(imports.id, id))
    .orderBy(asc(imports.id))
    .limit(limit);
  const unused = page.filter((one) => one.isUnused).map((one) => one.id);
  return { unused, next: page.length === limit ? page.at(-1)?.id : undefined };
}

/**
 * Returns those of the ids whose .solv files are needed, because the import exists or belongs to an earlier state of a
 * repository.
 */
export async function listImports(db: Database, ids: string[]): Promise<Set<string>> {
  const given = fromJson(ids);
  const rows = await db
    .select({ id: imports.id })
    .from(imports)
    .where(inArray(imports.id, given))
    .union(
      db
        .select({ id: repositoryStates.importId })
        .from(repositoryStates)
        .where(inArray(repositoryStates.importId, given)),
    );
  return new Set(rows.map(({ id }) => id));
}

const isUnused = sql`NOT EXISTS (SELECT 1 FROM repositories WHERE repositories.import_id = imports.id)`;
