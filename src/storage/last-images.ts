import { and, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { lastImages } from "./schema.ts";

export type LastImage = Pick<typeof lastImages.$inferSelect, "question" | "packages">;

/** Undefined if the appliance's last image was resolved from other software. */
export const findLastImage = (db: Database, applianceId: number, question: string): Promise<LastImage | undefined> =>
  db.query.lastImages.findFirst({
    columns: { question: true, packages: true },
    where: and(eq(lastImages.applianceId, applianceId), eq(lastImages.question, question)),
  });

/** Stores nothing if the appliance no longer exists. */
export async function saveLastImage(
  db: Database,
  applianceId: number,
  { question, packages }: LastImage,
): Promise<void> {
  const from = sql`FROM appliances WHERE id = ${applianceId}`;
  await insertFrom(db, lastImages, { applianceId, question, packages }, from).onConflictDoUpdate({
    target: lastImages.applianceId,
    set: { question, packages },
  });
}
