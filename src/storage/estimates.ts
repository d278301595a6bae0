import { eq } from "drizzle-orm";
import type { Database } from "./db.ts";
import { appliances } from "./schema.ts";

/** Keeps what the last resolution said about the image's size, for lists, which do not resolve. */
export async function saveEstimate(
  db: Database,
  applianceId: number,
  estimate: { estimatedRawMb: number; estimatedCompressedMb: number },
): Promise<void> {
  await db.update(appliances).set(estimate).where(eq(appliances.id, applianceId));
}
