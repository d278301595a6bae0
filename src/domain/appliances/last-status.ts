import type { Issue } from "#domain/appliances/issue";
import { noteInPassing } from "#domain/full-disk";
import type { SoftwareResolution } from "#domain/software/resolution";
import type { Appliance } from "#storage/appliances";
import { saveLastStatuses, type LastStatus } from "#storage/last-statuses";
import type { Database } from "#storage/db";

/** Lists have no room for a longer text. */
const maxText = 300;

/** Stores the problems of appliances, for lists, which do not examine appliances. */
export async function noteStatuses(db: Database, statuses: readonly LastStatus[]): Promise<void> {
  if (statuses.length === 0) return;
  await noteInPassing("the statuses of appliances", () => saveLastStatuses(db, statuses));
}

/** The part of an examination that lists show. Its time is when the rows were read, because it misses later changes. */
export function lastStatusOf(
  appliance: Appliance,
  { issues, resolution }: { issues: readonly Issue[]; resolution: SoftwareResolution | undefined },
  { readAt }: { readAt: Date },
): LastStatus {
  const errors = issues.filter(({ type }) => type === "error");
  const warnings = issues.filter(({ type }) => type === "warning");
  const [first] = [...errors, ...warnings];
  return {
    applianceId: appliance.id,
    errors: errors.length,
    warnings: warnings.length,
    text: first === undefined ? "" : cut(first.ofSoftware ?? first.text),
    packages: resolution?.state === "solved" ? resolution.packages.length : null,
    editedAt: appliance.lastEditedAt,
    examinedAt: readAt,
  };
}

const cut = (text: string): string =>
  text.length <= maxText ? text : `${text.slice(0, maxText - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
