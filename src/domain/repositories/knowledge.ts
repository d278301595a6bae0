import type { Repository } from "#storage/repositories";

/** How much is known about a repository. `stale`: its last refresh failed, so its contents may be old. */
export type Knowledge = "current" | "stale" | "unknown";

export function knowledgeOf({ revision, problem }: Pick<Repository, "revision" | "problem">): Knowledge {
  if (revision === null) return "unknown";
  return problem === null ? "current" : "stale";
}
