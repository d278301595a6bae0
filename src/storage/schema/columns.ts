import { integer } from "drizzle-orm/sqlite-core";

/** Moments are milliseconds since 1970, read as Date. */
export const moment = (name: string) => integer(name, { mode: "timestamp_ms" });

/** An id that is never given twice, also not after its row is gone. */
export const id = () => integer("id").primaryKey({ autoIncrement: true });
