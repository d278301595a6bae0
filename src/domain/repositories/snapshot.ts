import type { OpenedRepository } from "#repodata/opened-repository";
import type { Repository } from "#storage/repositories";

/** Where the packages of this index stay for a while when the repository has moved on; null: its catalogue knows of no such place. */
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

/** The index comes from a mirror: its name of a snapshot is one step of a path, and not a way out of it. */
const isSafe = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
