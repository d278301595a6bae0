import { z } from "zod";
import { RequestId } from "#lib/contract/index";
import type { Patience } from "#domain/repositories/import";
import { requestIdNow } from "#log/request-id";

/** The names of the queues of imports. */
export const importsQueues: Record<string, Patience> = { "kiln-imports": "quick", "kiln-slow-imports": "patient" };
/** The queue for messages whose import failed or was killed at every try. */
export const deadImportsQueue = "kiln-dead-imports";

/** The message for a repository whose turn it is. The rows are authoritative; this is only the wake-up. */
export const ImportMessage = z.object({ repositoryId: z.int().positive(), requestId: RequestId.optional() });
export type ImportMessage = z.infer<typeof ImportMessage>;

export async function sendImport(
  env: Pick<Env, "IMPORTS" | "SLOW_IMPORTS">,
  patience: Patience,
  message: ImportMessage,
): Promise<void> {
  const queue = patience === "quick" ? env.IMPORTS : env.SLOW_IMPORTS;
  const requestId = requestIdNow();
  const request = requestId !== undefined && { requestId };
  await queue.send({ ...message, ...request }, { contentType: "json" });
}
