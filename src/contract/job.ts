import { z } from "zod";

/**
 * What travels through the Queue. Only a wake-up: the Build or Testdrive object is the truth, so a stale or doubled
 * message is harmless and an agent claims the oldest work that it can do, not this id.
 */
export const Job = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("build"), buildId: z.int().positive() }),
  z.object({ kind: z.literal("testdrive"), testdriveId: z.int().positive() }),
]);
export type Job = z.infer<typeof Job>;
