import { z } from "zod";
import { RequestId } from "./request-id.ts";

/**
 * A message in the queue. It only wakes agents up: an agent claims the next work that it can do, not this id. The Build or
 * Testdrive object has the true state, so a stale or repeated message is harmless.
 */
export const Job = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("build"), buildId: z.int().positive(), requestId: RequestId.optional() }),
  z.object({ kind: z.literal("testdrive"), testdriveId: z.int().positive(), requestId: RequestId.optional() }),
]);
export type Job = z.infer<typeof Job>;
