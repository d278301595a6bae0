import { z } from "zod";

export const importsQueue = "kiln-imports";

/** Look whether a repository has changed, and import it if so. The row is the truth; this is only the wake-up. */
export const ImportRequest = z.object({ repositoryId: z.int().positive() });
export type ImportRequest = z.infer<typeof ImportRequest>;

/** Asks for imports, each in a queue message of its own. */
export async function requestImports(env: Pick<Env, "IMPORTS">, repositoryIds: readonly number[]): Promise<void> {
  const messages = repositoryIds.map((repositoryId) => ({ body: { repositoryId }, contentType: "json" as const }));
  // 100 messages a call is Cloudflare's limit.
  for (let at = 0; at < messages.length; at += 100) await env.IMPORTS.sendBatch(messages.slice(at, at + 100));
}
