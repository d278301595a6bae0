import { and, asc, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { relisted } from "./gallery-listings.ts";
import { fromNewRow, insertWhere } from "./inserts.ts";
import { counts } from "./limits.ts";
import { accounts, comments, galleryUses, ratings } from "./schema.ts";

/** `average` is null if there is no rating. */
export interface Rating {
  count: number;
  average: number | null;
}

export async function ratingOf(db: Database, applianceId: number): Promise<Rating> {
  return await db.get<Rating>(
    sql`SELECT count(*) AS count, avg(rating) AS average FROM ratings WHERE appliance_id = ${applianceId}`,
  );
}

/** The rating that this account gave. */
export async function findOwnRating(
  db: Database,
  { applianceId, accountId }: { applianceId: number; accountId: number },
): Promise<number | undefined> {
  const found = await db.query.ratings.findFirst({
    columns: { rating: true },
    where: and(eq(ratings.applianceId, applianceId), eq(ratings.accountId, accountId)),
  });
  return found?.rating;
}

/** Replaces this account's rating. Does nothing if the appliance is no longer published. */
export async function saveRating(
  db: Database,
  { applianceId, accountId }: { applianceId: number; accountId: number },
  rating: number,
): Promise<void> {
  await db.batch([
    insertWhere(
      db,
      ratings,
      { applianceId, accountId, rating, ratedAt: new Date() },
      isPublished(applianceId),
    ).onConflictDoUpdate({
      target: [ratings.applianceId, ratings.accountId],
      set: fromNewRow(ratings, ["rating", "ratedAt"]),
    }),
    ...relisted(db, applianceId),
  ]);
}

export interface Comment {
  id: number;
  parentId: number | null;
  createdAt: Date;
  /** The author. */
  accountId: number;
  displayName: string;
  text: string;
}

/** All comments on an appliance, oldest first. */
export const listComments = (db: Database, applianceId: number): Promise<Comment[]> =>
  db
    .select({
      id: comments.id,
      parentId: comments.parentId,
      createdAt: comments.createdAt,
      accountId: comments.accountId,
      displayName: accounts.displayName,
      text: comments.text,
    })
    .from(comments)
    .innerJoin(accounts, eq(accounts.id, comments.accountId))
    .where(eq(comments.applianceId, applianceId))
    .orderBy(asc(comments.id));

export interface NewComment {
  applianceId: number;
  accountId: number;
  parentId: number | null;
  text: string;
  requestId?: string | undefined;
}

/** Whether the request has added a comment: true, or else undefined. */
export async function hasComment(db: Database, requestId: string): Promise<true | undefined> {
  const found = await db.query.comments.findFirst({ columns: { id: true }, where: eq(comments.requestId, requestId) });
  return found && true;
}

/**
 * Adds a comment. False if the comment that it replies to belongs to another appliance, the appliance is no longer
 * published, or the account or the appliance has too many comments.
 */
export async function addComment(
  db: Database,
  comment: NewComment,
  most: { ofAccount: number; ofAppliance: number; characters: number },
): Promise<boolean> {
  const { applianceId, accountId, parentId } = comment;
  const added = await insertWhere(
    db,
    comments,
    { ...comment, createdAt: new Date() },
    sql`${isPublished(applianceId)} AND ${counts.comments(accountId)} < ${most.ofAccount}
        AND (SELECT count(*) < ${most.ofAppliance} AND coalesce(sum(length(one.text)), 0) < ${most.characters}
             FROM comments AS one WHERE one.appliance_id = ${applianceId})
        AND (${parentId} IS NULL
        OR EXISTS (SELECT 1 FROM comments WHERE id = ${parentId} AND appliance_id = ${applianceId}))`,
  ).returning({ id: comments.id });
  return added.length > 0;
}

/** Deletes a comment. Its replies stay, without a parent. False if the appliance has no such comment. */
export async function deleteComment(
  db: Database,
  { applianceId, id }: { applianceId: number; id: number },
): Promise<boolean> {
  const [, gone] = await db.batch([
    db
      .update(comments)
      .set({ parentId: null })
      .where(and(eq(comments.applianceId, applianceId), eq(comments.parentId, id))),
    db
      .delete(comments)
      .where(and(eq(comments.applianceId, applianceId), eq(comments.id, id)))
      .returning({ id: comments.id }),
  ]);
  return gone.length > 0;
}

/** Records that an account has cloned, tried or downloaded an appliance. Repeating it writes nothing. */
export async function addUse(db: Database, use: typeof galleryUses.$inferInsert): Promise<void> {
  const { applianceId, accountId, kind } = use;
  const known = await db.query.galleryUses.findFirst({
    where: and(
      eq(galleryUses.applianceId, applianceId),
      eq(galleryUses.accountId, accountId),
      eq(galleryUses.kind, kind),
    ),
  });
  if (known) return;
  await db.batch([db.insert(galleryUses).values(use).onConflictDoNothing(), ...relisted(db, applianceId)]);
}

const isPublished = (applianceId: number) =>
  sql`EXISTS (SELECT 1 FROM publications WHERE appliance_id = ${applianceId})`;
