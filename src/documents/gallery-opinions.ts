import type { Rating } from "#storage/gallery-opinions";
import { countedOf, fields, group, id, inside, int, text, time } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** The average as `4.33333333333333`: fifteen digits, always with a decimal point; `0.0` if there is no rating. */
export function averageOf(average: number | null): string {
  const text = String(Number((average ?? 0).toPrecision(15)));
  return text.includes(".") ? text : `${text}.0`;
}

const ratings = fields({
  ratings: int("count", 3),
  average_rating: text(({ average }: Rating) => averageOf(average), "4.33333333333333"),
});

export const rating = document("Rating", "gallery", fields({ appliance: group(ratings) }));

/** `username` is the display name here (compatibility.md, "Gallery"). */
const comment = fields({
  id: id("id", 16),
  parent_id: id("parentId", 15).optional(),
  timestamp: time("createdAt", "2026-03-06T12:05:41Z"),
  username: text("displayName", "Odo Station"),
  text: text("text", "Works at our desk & gate."),
});

const discussed = fields({
  id: id("applianceId", 1004),
  comments: inside("comments", countedOf("comment", comment)),
});

export const comments = document("Comments", "gallery", fields({ appliance: group(discussed) }));
