import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { getUsable } from "#domain/repositories/of-appliance";
import type { ApplianceSoftware, Choice } from "#domain/software/resolution-request";
import { checkName, checkVersion, keyOf } from "#domain/software/selection-rules";
import type { Appliance } from "#storage/appliances";

/** A package or pattern, such as `hello`, or a specific version of it: `hello=1.0-1`. */
type Wanted = string;

/**
 * Changes of an appliance's software, as a client sends them. Additions have precedence: an entry that is both removed
 * and added is selected.
 */
export interface SoftwareChange {
  addPackages: readonly Wanted[];
  removePackages: readonly string[];
  addPatterns: readonly Wanted[];
  removePatterns: readonly string[];
  banPackages: readonly string[];
  unbanPackages: readonly string[];
  addRepositories: readonly number[];
  removeRepositories: readonly number[];
  /** The repository that added packages and patterns must come from. */
  pinnedTo?: number | undefined;
}

/** The software after a change. Nothing is stored. */
export async function changed(
  { db }: Pick<Services, "db">,
  { software, appliance, accountId }: { software: ApplianceSoftware; appliance: Appliance; accountId: number },
  change: SoftwareChange,
): Promise<ApplianceSoftware> {
  const added = [
    ...change.addPackages.map((wanted) => choiceOf("package", wanted, change.pinnedTo)),
    ...change.addPatterns.map((wanted) => choiceOf("pattern", wanted, change.pinnedTo)),
    ...change.banPackages.map((name) => choiceOf("ban", name)),
  ];
  const removed = [
    ...change.removePackages.map((name) => keyOf({ kind: "package", name })),
    ...change.removePatterns.map((name) => keyOf({ kind: "pattern", name })),
    ...change.unbanPackages.map((name) => keyOf({ kind: "ban", name })),
  ];
  const gone = new Set([...removed, ...added.map(keyOf)]);
  const selection = [...software.selection.filter((one) => !gone.has(keyOf(one))), ...added];
  const has = new Set(software.repositories.map(({ id }) => id));
  const wanted = change.addRepositories.filter((id) => !has.has(id));
  const more = wanted.length === 0 ? [] : await getUsable(db, { accountId, appliance }, wanted);
  const left = new Set(change.removeRepositories);
  const repositories = [...software.repositories.filter(({ id }) => !left.has(id)), ...more];
  if (change.pinnedTo !== undefined && !repositories.some(({ id }) => id === change.pinnedTo))
    throw new Refusal("invalid_repository_id", { message: "The appliance does not have the repository." });
  return { ...software, selection, repositories };
}

function choiceOf(kind: Choice["kind"], wanted: Wanted, repositoryId: number | null = null): Choice {
  const { name, version } = kind === "ban" ? { name: wanted } : namedIn(wanted);
  checkName(name);
  checkVersion(version, "invalid_version");
  return { kind, name, version: version ?? null, repositoryId };
}

/** The name and, if a specific one is wanted, the version. */
export function namedIn(wanted: Wanted): { name: string; version?: string | undefined } {
  const [name = "", ...version] = wanted.split("=");
  return { name, version: version.length === 0 ? undefined : version.join("=") };
}

/** The change from one state of the software to another. */
export function changeBetween(from: ApplianceSoftware, to: ApplianceSoftware): SoftwareChange {
  const known = new Set(from.selection.map(written));
  const kept = new Set(to.selection.map(keyOf));
  const added = to.selection.filter((one) => !known.has(written(one)));
  const removed = from.selection.filter((one) => !kept.has(keyOf(one)));
  const [before, after] = [from, to].map(({ repositories }) => new Set(repositories.map(({ id }) => id)));
  return {
    addPackages: added.filter(isOf("package")).map(wantedOf),
    removePackages: removed.filter(isOf("package")).map(({ name }) => name),
    addPatterns: added.filter(isOf("pattern")).map(wantedOf),
    removePatterns: removed.filter(isOf("pattern")).map(({ name }) => name),
    banPackages: added.filter(isOf("ban")).map(({ name }) => name),
    unbanPackages: removed.filter(isOf("ban")).map(({ name }) => name),
    addRepositories: [...(after?.difference(before ?? new Set()) ?? [])],
    removeRepositories: [...(before?.difference(after ?? new Set()) ?? [])],
  };
}

const isOf =
  (kind: Choice["kind"]) =>
  (one: Choice): boolean =>
    one.kind === kind;

const wantedOf = ({ name, version }: Choice): Wanted => (version === null ? name : `${name}=${version}`);

const written = (one: Choice): string => `${keyOf(one)} ${one.version ?? ""} ${one.repositoryId ?? ""}`;
