import type { OpenedRepository } from "#lib/repodata/opened-repository";
import type { Repository } from "#storage/repositories";

/**
 * The URL at which the packages of this index stay available for a while after the repository has changed. Null if its
 * catalogue names none.
 */
export function snapshotUrl(
  { snapshots }: Pick<Repository, "snapshots">,
  { distributions }: Pick<OpenedRepository, "distributions">,
): string | null {
  if (snapshots === null) return null;
  const pattern = new RegExp(snapshots.cpeId);
  for (const { cpeId = "" } of distributions) {
    const name = pattern.exec(cpeId)?.[1];
    if (name !== undefined && isSafe(name)) return snapshots.url.replaceAll("$snapshot", () => name);
  }
  return null;
}

/** The index comes from a mirror, so the snapshot's name must be a single path segment. */
const isSafe = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
