import type { Issue } from "#domain/appliances/issue";
import { noteInPassing } from "#domain/full-disk";
import type { Appliance } from "#storage/appliances";
import { saveLastStatus } from "#storage/appliance-overview";
import type { Database } from "#storage/db";

/** Lists have no room for a longer text. */
const maxText = 300;

/** Stores what is wrong with an appliance, for lists, which do not examine it. */
export async function noteStatus(
  db: Database,
  appliance: Appliance,
  { issues, packages }: { issues: readonly Issue[]; packages: number | null },
): Promise<void> {
  const errors = issues.filter(({ type }) => type === "error");
  const warnings = issues.filter(({ type }) => type === "warning");
  const [first] = [...errors, ...warnings];
  const status = {
    applianceId: appliance.id,
    errors: errors.length,
    warnings: warnings.length,
    text: first === undefined ? "" : cut(first.ofSoftware ?? first.text),
    packages,
    editedAt: appliance.lastEditedAt,
    examinedAt: new Date(),
  };
  await noteInPassing("the status of an appliance", () => saveLastStatus(db, status));
}

const cut = (text: string): string =>
  text.length <= maxText ? text : `${text.slice(0, maxText - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
