import type { PackageType } from "#lib/contract/index";
import { compareEvr, splitEvr, type Evr } from "#lib/solver/evr-order";
import type { Advisory } from "#lib/advisories/advisory";
import { affectedStates, type AffectedCounts, type AffectedState } from "#model/advisory";
import type { AdvisoryRow } from "#storage/advisories";
import type { Database } from "#storage/db";
import { exploitedAmong } from "#storage/exploited-advisories";
import type { ListedPackage } from "#storage/image-packages";

/** An advisory that affects installed packages of one source. */
export interface Affected {
  id: string;
  /** The distribution's announcements that fix it. */
  aliases: string[];
  state: AffectedState;
  source: string;
  /** The installed version of the source package. */
  installed: string;
  /** The version that fixes it. Undefined if there is no fix. */
  fixed: string | undefined;
  urgency: string | undefined;
  /** The names of the source's installed packages. */
  packages: string[];
}

/** An advisory, with whether attackers are known to exploit it. */
export interface KnownAffected extends Affected {
  isExploited: boolean;
}

/**
 * Adds whether each advisory is known to be exploited. Exploited ones come first, because a kernel alone can have
 * thousands of others.
 */
export async function withExploits(db: Database, affected: readonly Affected[]): Promise<KnownAffected[]> {
  const exploited = await exploitedAmong(db, [...new Set(affected.map(({ id }) => id))]);
  return affected
    .map((one) => ({ ...one, isExploited: exploited.has(one.id) }))
    .toSorted((one, other) => Number(other.isExploited) - Number(one.isExploited));
}

/** dpkg compares a version without a release as if its release were 0. libsolv does not. */
function evrOf(version: string, type: PackageType): Evr {
  const evr = splitEvr(version);
  return type === "deb" && evr.release === "" ? { ...evr, release: "0" } : evr;
}

/** Compares two versions in the distribution's order. */
export const compareVersions = (one: string, other: string, type: PackageType): number =>
  compareEvr(type, evrOf(one, type), evrOf(other, type));

/** Whether a version is affected. */
function isAffected({ fixed, introduced }: Advisory, version: string, type: PackageType): boolean {
  const compare = (other: string) => compareVersions(version, other, type);
  return (introduced === undefined || compare(introduced) >= 0) && (fixed === undefined || compare(fixed) < 0);
}

function stateOf({ state, urgency }: Advisory): AffectedState {
  if (state === "resolved") return "fixed";
  return urgency === "unimportant" ? "unimportant" : state;
}

/** Whether an advisory has this name, as its id or as an alias. */
export const isCalled = ({ id, aliases = [] }: Pick<Advisory, "id" | "aliases">, name: string): boolean =>
  id === name || aliases.includes(name);

/**
 * Merges two entries of an advisory, from two feeds or from two announcements of one feed. An entry with a fix is
 * better, and of two fixes the later one, because the other was not enough.
 */
function merged(known: Affected | undefined, one: Affected, type: PackageType): Affected {
  if (!known) return one;
  const isLater = compareVersions(one.fixed ?? "", known.fixed ?? "", type) >= 0;
  const better = one.state === "fixed" && (known.state !== "fixed" || isLater) ? one : known;
  const aliases = [...new Set([...known.aliases, ...one.aliases])];
  return { ...better, aliases, urgency: better.urgency ?? known.urgency };
}

/** The advisories that affect these packages; with `only`, just this one. Fixable ones come first, then the newest. */
export function affectedBy(
  installed: readonly ListedPackage[],
  rows: readonly AdvisoryRow[],
  { type, only }: { type: PackageType; only?: string | undefined },
): Affected[] {
  const bySource = Map.groupBy(rows, ({ source }) => source);
  const sources = Map.groupBy(installed, ({ source, sourceVersion }) => `${source} ${sourceVersion}`);
  const found = new Map<string, Affected>();
  for (const packages of sources.values()) {
    const [{ source, sourceVersion } = { source: "", sourceVersion: "" }] = packages;
    for (const advisory of (bySource.get(source) ?? []).flatMap(({ advisories }) => advisories)) {
      if ((only !== undefined && !isCalled(advisory, only)) || !isAffected(advisory, sourceVersion, type)) continue;
      const { id, aliases = [], fixed, urgency } = advisory;
      const state = stateOf(advisory);
      const names = [...new Set(packages.map(({ name }) => name))];
      const one = { id, aliases, state, source, installed: sourceVersion, fixed, urgency, packages: names };
      const key = `${id} ${source} ${sourceVersion}`;
      found.set(key, merged(found.get(key), one, type));
    }
  }
  return [...found.values()].toSorted(inOrder);
}

const rankOf = (state: AffectedState): number => affectedStates.indexOf(state);

const inOrder = (one: Affected, other: Affected): number =>
  rankOf(one.state) - rankOf(other.state) ||
  other.id.localeCompare(one.id, "en", { numeric: true }) ||
  one.source.localeCompare(other.source, "en");

/**
 * How many advisories have each state. An advisory that affects several sources counts once, with the first of its
 * states.
 */
export function countsOf(all: readonly Pick<KnownAffected, "id" | "state" | "isExploited">[]): AffectedCounts {
  const first = new Map<string, { state: AffectedState; isExploited: boolean }>();
  for (const one of all) {
    const known = first.get(one.id);
    if (known === undefined || rankOf(one.state) < rankOf(known.state)) first.set(one.id, one);
  }
  const counts: AffectedCounts = { fixed: 0, open: 0, undetermined: 0, unimportant: 0, exploited: 0 };
  for (const { state, isExploited } of first.values()) {
    counts[state] += 1;
    if (state === "fixed" && isExploited) counts.exploited += 1;
  }
  return counts;
}

/**
 * The counts of the most affected image: the one with the most exploited advisories, then with the most that an update
 * fixes, then with the most open ones.
 */
export const mostAffected = (all: readonly (AffectedCounts | null)[]): AffectedCounts | undefined =>
  all
    .flatMap((counts) => counts ?? [])
    .toSorted((one, other) => other.exploited - one.exploited || other.fixed - one.fixed || other.open - one.open)[0];
