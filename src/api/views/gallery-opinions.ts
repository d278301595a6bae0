import type { Comment, Rating } from "#storage/gallery-opinions";
import { XmlList, type XmlFields } from "#wire/xml";

export const ratingFields = ({ count, average }: Rating): XmlFields => ({
  ratings: count,
  average_rating: averageOf(average),
});

/** `4.33333333333333`: fifteen digits, and never without a point; `0.0` where nobody has rated. */
export function averageOf(average: number | null): string {
  const text = String(Number((average ?? 0).toPrecision(15)));
  return text.includes(".") ? text : `${text}.0`;
}

/** `username` is the display name here (wire.md §2.16). */
export const commentsFields = (applianceId: number, comments: readonly Comment[]): XmlFields => ({
  id: applianceId,
  comments: new XmlList("comment", comments.map(commentFields), { count: comments.length }),
});

const commentFields = ({ id, parentId, createdAt, displayName, text }: Comment): XmlFields => ({
  id,
  parent_id: parentId ?? undefined,
  timestamp: createdAt,
  username: displayName,
  text,
});
