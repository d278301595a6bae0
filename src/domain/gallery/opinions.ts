import { makeOnce } from "#domain/accounts/idempotency";
import { limitsOf, type LimitsEnv, refuseOverLimit } from "#domain/accounts/limits";
import { refuseUnlessPublished } from "#domain/gallery/access";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { findPublication } from "#storage/publications";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";
import {
  addComment,
  deleteComment,
  ratingOf,
  hasComment,
  listComments,
  saveRating,
  type Comment,
  type NewComment,
  type Rating,
} from "#storage/gallery-opinions";

export async function getRating(db: Database, accountId: number, applianceId: number): Promise<Rating> {
  await refuseUnlessPublished(db, accountId, applianceId);
  return await ratingOf(db, applianceId);
}

const ratings: readonly number[] = [0, 1, 2, 3, 4, 5];

/** Replaces the account's earlier rating. */
export async function rate(
  db: Database,
  { id: accountId }: Account,
  { applianceId, rating }: { applianceId: number; rating: number },
): Promise<Rating> {
  if (!ratings.includes(rating)) throw new Refusal("invalid_rating");
  await refuseUnlessPublished(db, accountId, applianceId);
  await saveRating(db, { applianceId, accountId }, rating);
  return await ratingOf(db, applianceId);
}

export async function getComments(db: Database, accountId: number, applianceId: number): Promise<Comment[]> {
  await refuseUnlessPublished(db, accountId, applianceId);
  return await listComments(db, applianceId);
}

/** Removes a comment. The publisher of an appliance may remove any comment on it, and other accounts only their own. */
export async function removeComment(
  db: Database,
  { id: accountId }: Pick<Account, "id">,
  { applianceId, commentId }: { applianceId: number; commentId: number },
): Promise<void> {
  const [all, publication] = await Promise.all([listComments(db, applianceId), findPublication(db, applianceId)]);
  const comment = all.find(({ id }) => id === commentId);
  const mayRemove = comment && [publication?.accountId, comment.accountId].includes(accountId);
  if (!mayRemove || !(await deleteComment(db, { applianceId, id: commentId }))) {
    throw new Refusal("unknown_error", { reason: "unknown", message: "There is no such comment, or it is not yours." });
  }
}

/**
 * The limits for the comments on an appliance. Each answer contains all of them, because the specification has no
 * pages.
 */
const limitsOfComments = { ofAppliance: 1000, characters: 1_000_000 };

/** Adds a comment, and returns all comments. */
export async function comment(
  { env, db }: Services<LimitsEnv>,
  { id: accountId }: Account,
  { parentId, ...said }: Omit<NewComment, "accountId" | "parentId"> & { parentId: number | undefined },
): Promise<Comment[]> {
  const { applianceId, text } = said;
  await refuseUnlessPublished(db, accountId, applianceId);
  if (text.trim() === "") throw new Refusal("missing_parameter", { message: "The comment is empty." });
  const most = { ...limitsOfComments, ofAccount: limitsOf(env).comments };
  const added = await makeOnce(said.requestId, {
    find: (requestId) => hasComment(db, requestId),
    make: () => addComment(db, { ...said, parentId: parentId ?? null, accountId }, most),
  });
  if (!added) {
    await refuseOverLimit({ env, db }, accountId, { comments: 1 });
    await refuseFullComments(db, applianceId);
    throw new Refusal("invalid_parent");
  }
  return await listComments(db, applianceId);
}

async function refuseFullComments(db: Database, applianceId: number): Promise<void> {
  const all = await listComments(db, applianceId);
  const characters = all.reduce((sum, { text }) => sum + text.length, 0);
  if (all.length < limitsOfComments.ofAppliance && characters < limitsOfComments.characters) return;
  throw new Refusal("unknown_error", {
    message: `An appliance can have at most ${limitsOfComments.ofAppliance} comments, and ${limitsOfComments.characters} characters in them. Its publisher can delete some.`,
  });
}
