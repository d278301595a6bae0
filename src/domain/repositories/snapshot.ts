import type { OpenedRepository } from "#lib/repodata/opened-repository";
import type { Repository } from "#storage/repositories";

/** Where the packages of this index stay for a while after the repository has changed; null: its catalogue names no such place. */
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

/** The index comes from a mirror: the snapshot's name must be a single path segment. */
const isSafe = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
