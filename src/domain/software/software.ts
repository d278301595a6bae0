import { noteEstimate } from "#domain/appliances/estimate";
import type { Services } from "#domain/services";
import { imageBefore, keepImage } from "#domain/software/last-image";
import { changedMeanwhile, Refusal } from "#domain/refusal";
import { closestNames, didYouMean } from "#domain/software/closest-names";
import { countChanges, imageOf, resolve, type SoftwareProblem } from "#domain/software/resolution";
import { loadSoftware, type ApplianceSoftware, type Choice } from "#domain/software/resolution-request";
import { checkName, checkVersion, keyOf } from "#domain/software/selection-rules";
import { listApplianceRepositories, listSelection, type Appliance, type Selection } from "#storage/appliances";
import type { Database } from "#storage/db";
import { removeSelection, replaceSelections, saveSelection } from "#storage/selections";

export type SoftwareKind = Selection["kind"];

/**
 * The effect of a change of the selection on the image (compatibility.md, "Software"). `broken`: the software no longer
 * resolves. The counts compare two images, so they are 0 if one of the images does not exist.
 */
export interface SelectionChange {
  state: "changed" | "equal" | "broken";
  packagesAdded: number;
  packagesRemoved: number;
  /** Why the software is broken, if the changed name is the reason. */
  message?: string;
}

export interface SelectionRequest {
  kind: SoftwareKind;
  name: string;
  version?: string | undefined;
  repositoryId?: number | undefined;
}

/** The part of a selection that an appliance's document shows: everything except bans. */
export interface ShownSelection {
  applianceId: number;
  packages: Selection[];
  patterns: Selection[];
}

export async function getSelection(db: Database, { id: applianceId }: Appliance): Promise<ShownSelection> {
  const { package: packages = [], pattern: patterns = [] } = Object.groupBy(
    await listSelection(db, applianceId),
    ({ kind }) => kind,
  );
  return { applianceId, packages, patterns };
}

/** Puts a package, a pattern or a ban into the selection, or changes its pin. */
export async function select(
  services: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
  request: SelectionRequest,
): Promise<SelectionChange> {
  checkName(request.name);
  checkVersion(request.version, "invalid_version");
  await checkRepository(services.db, appliance, request.repositoryId);
  const { kind, name, version = null, repositoryId = null } = request;
  const choice = { kind, name, version, repositoryId };
  const before = await saveSelection(services.db, { ...choice, applianceId: appliance.id });
  if (before && before.version === version && before.repositoryId === repositoryId) return equal;
  return await compare(services, appliance, { before, after: choice });
}

/** Removes an entry from the selection. If there is no such entry, the selection stays the same. */
export async function deselect(
  services: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
  { kind, name }: Pick<SelectionRequest, "kind" | "name">,
): Promise<SelectionChange> {
  const before = await removeSelection(services.db, { applianceId: appliance.id, kind, name });
  return before ? await compare(services, appliance, { before, after: undefined }) : equal;
}

type Wanted = Pick<SelectionRequest, "name" | "version">;

/**
 * Replaces all packages and patterns. Bans stay, and so do pins to repositories, which no list shows. `precondition` is
 * called with the selection, and throws to refuse the change. If another request changes the appliance after that, this
 * request is refused.
 */
export async function replaceSelection(
  services: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
  {
    wanted: { packages = [], patterns = [] },
    precondition,
  }: {
    wanted: { packages?: Wanted[]; patterns?: Wanted[] };
    precondition?: ((before: ShownSelection) => void) | undefined;
  },
): Promise<ShownSelection> {
  precondition?.(await getSelection(services.db, appliance));
  const rows = await rowsOf(services.db, appliance, [
    ...packages.map((one) => ({ ...one, kind: "package" as const })),
    ...patterns.map((one) => ({ ...one, kind: "pattern" as const })),
  ]);
  const unchangedSince = precondition && appliance.lastEditedAt;
  const replaced = await replaceSelections(services.db, { applianceId: appliance.id, unchangedSince }, rows);
  if (!replaced) throw precondition ? changedMeanwhile() : new Refusal("invalid_appliance_id", { reason: "unknown" });
  const software = await loadSoftware(services.db, appliance);
  await noteEstimate(services.db, appliance, { software, resolution: await resolve(services, software) });
  return await getSelection(services.db, appliance);
}

/** The rows, with each entry only once. An entry that keeps its version also keeps its repository. */
async function rowsOf(db: Database, { id }: Appliance, wanted: (Wanted & Pick<SelectionRequest, "kind">)[]) {
  for (const { name, version } of wanted) {
    checkName(name);
    checkVersion(version, "invalid_value");
  }
  const present = new Map((await listSelection(db, id)).map((entry) => [keyOf(entry), entry]));
  const rows = wanted.map(({ kind, name, version = null }) => {
    const before = present.get(keyOf({ kind, name }));
    return { kind, name, version, repositoryId: before?.version === version ? before.repositoryId : null };
  });
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

const equal: SelectionChange = { state: "equal", packagesAdded: 0, packagesRemoved: 0 };

/**
 * Compares the images with and without this change. Both include the changes of other requests, so the difference is
 * only due to this change.
 */
async function compare(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
  { before, after }: { before: Choice | undefined; after: Choice | undefined },
): Promise<SelectionChange> {
  const software = await loadSoftware(db, appliance);
  const changed = keyOf(after ?? before ?? { kind: "package", name: "" });
  const others = software.selection.filter((entry) => keyOf(entry) !== changed);
  const now = { ...software, selection: after ? [...others, after] : others };
  const is = await resolve({ env, db }, now);
  const was = await imageBefore({ env, db }, appliance.id, {
    ...software,
    selection: before ? [...others, before] : others,
  });
  await noteEstimate(db, appliance, { software, resolution: is });
  await keepImage(db, appliance.id, { software: now, resolution: is });
  const { added, removed } = countChanges(was, imageOf(is)) ?? { added: 0, removed: 0 };
  const counts = { packagesAdded: added, packagesRemoved: removed };
  if (is.state === "solved") return { state: "changed", ...counts };
  const message =
    after && is.state === "unsolvable" ? await unknownReason(db, now, { after, problems: is.problems }) : "";
  return { state: "broken", ...counts, ...(message && { message }) };
}

/** The reason, if the added name is unknown. Empty if it is known. */
async function unknownReason(
  db: Database,
  software: ApplianceSoftware,
  { after, problems }: { after: Choice; problems: SoftwareProblem[] },
): Promise<string> {
  const unknown = problems.find(({ unknown: one }) => one?.kind === after.kind && one.name === after.name)?.unknown;
  if (!unknown) return "";
  const { kind, name } = unknown;
  return `No ${kind} is called ${name}.${didYouMean(await closestNames(db, software, unknown))}`;
}

async function checkRepository(db: Database, appliance: Appliance, repositoryId: number | undefined): Promise<void> {
  if (repositoryId === undefined) return;
  const repositories = await listApplianceRepositories(db, appliance.id);
  if (repositories.some(({ id }) => id === repositoryId)) return;
  throw new Refusal("invalid_repository_id", { message: "The appliance has no such repository." });
}
