import { sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { counters } from "./schema.ts";

export type Counter = typeof counters.$inferSelect;
export type CounterName = "attempts_lost" | "builds_ended" | "imports_given_up" | "refusals" | "storage_bytes";
type Key = { name: CounterName; label: string };

const more = {
  target: [counters.name, counters.label],
  set: { value: sql`value + excluded.value`, changedAt: sql`excluded.changed_at` },
};

/** Adds one to a counter if `when` is true. Belongs in the batch of the counted act, before the act's own statement. */
export const counted = (db: Database, { name, label, at, when }: Key & { at: Date; when: SQL }) =>
  insertWhere(db, counters, { name, label, value: 1, changedAt: at }, when).onConflictDoUpdate(more);

/** Adds a value to each counter. */
export async function addToCounters(
  db: Database,
  added: readonly (Key & { value: number })[],
  at: Date,
): Promise<void> {
  await db
    .insert(counters)
    .values(added.map((one) => ({ ...one, changedAt: at })))
    .onConflictDoUpdate(more);
}

/** Replaces the last measurement. */
export async function saveMeasured(db: Database, name: "storage_bytes", value: number): Promise<void> {
  const set = { value, changedAt: new Date() };
  await db
    .insert(counters)
    .values({ name, label: "", ...set })
    .onConflictDoUpdate({ target: more.target, set });
}

/** All counters. There are few, because names and labels are fixed words. */
export const listCounters = (db: Database): Promise<Counter[]> => db.query.counters.findMany();
