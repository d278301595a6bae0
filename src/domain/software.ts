import { Refusal } from "#domain/refusal";
import { listApplianceRepositories, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { removeSelection, saveSelection } from "#storage/selections";

export type SoftwareKind = "package" | "pattern";

/** What a change of the selection did (wire.md §2.7); the counts are those of the selection until the solver arrives. */
export interface SelectionChange {
  state: "changed" | "equal" | "broken";
  packagesAdded: number;
  packagesRemoved: number;
}

export interface SelectionRequest {
  kind: SoftwareKind;
  name: string;
  version?: string | undefined;
  repositoryId?: number | undefined;
}

/** Puts a package or pattern into the selection, or pins it anew. */
export async function select(db: Database, appliance: Appliance, request: SelectionRequest): Promise<SelectionChange> {
  checkName(request.name);
  checkVersion(request.version);
  await checkRepository(db, appliance, request.repositoryId);
  const { kind, name, version = null, repositoryId = null } = request;
  const before = await saveSelection(db, { applianceId: appliance.id, kind, name, version, repositoryId });
  if (!before) return { state: "changed", packagesAdded: 1, packagesRemoved: 0 };
  if (before.version === version && before.repositoryId === repositoryId) return equal;
  return { state: "changed", packagesAdded: 1, packagesRemoved: 1 };
}

/** Takes a package or pattern out of the selection; one that is not there leaves it equal. */
export async function deselect(
  db: Database,
  appliance: Appliance,
  { kind, name }: Pick<SelectionRequest, "kind" | "name">,
): Promise<SelectionChange> {
  const removed = await removeSelection(db, { applianceId: appliance.id, kind, name });
  return removed ? { state: "changed", packagesAdded: 0, packagesRemoved: 1 } : equal;
}

const equal: SelectionChange = { state: "equal", packagesAdded: 0, packagesRemoved: 0 };

// The names rpm builds packages under; zypper would read others as globs, removals or repository aliases.
const packageName = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,199}$/;

function checkName(name: string): void {
  if (!packageName.test(name)) throw new Refusal("invalid_value", { message: `${name} is no name of a package.` });
}

// epoch:version-release as rpm writes them.
function checkVersion(version: string | undefined): void {
  if (version === undefined || /^[A-Za-z0-9][A-Za-z0-9._+~^:-]{0,199}$/.test(version)) return;
  throw new Refusal("invalid_version", { message: `${version} is no version of a package.` });
}

async function checkRepository(db: Database, appliance: Appliance, repositoryId: number | undefined): Promise<void> {
  if (repositoryId === undefined) return;
  const repositories = await listApplianceRepositories(db, appliance.id);
  if (repositories.some(({ id }) => id === repositoryId)) return;
  throw new Refusal("invalid_repository_id", { message: "The appliance has no such repository." });
}
