import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import type { Repository } from "#storage/repositories";
import { listStates, type RepositoryState } from "#storage/repository-states";

type AsOfEnv = Pick<Env, "BLOBS" | "KEEP_REPOSITORIES_DAYS">;

const dayMs = 24 * 60 * 60_000;

/** A period in which a repository showed the same contents. */
interface Period {
  from: number;
  /** Infinity for the current contents. */
  to: number;
}

/** The first and the last day of a period, such as `2026-11-27`. */
export interface Days {
  from: string;
  to: string;
}

/**
 * Repositories as they were at the beginning of a day (UTC). Refused, with the possible days, if Kiln no longer has the
 * contents of one of them, or had not read them yet.
 */
export async function repositoriesAsOf(
  { env, db }: Services<AsOfEnv>,
  repositories: readonly Repository[],
  day: string,
): Promise<Repository[]> {
  const at = momentOf(day);
  const earlier = await earlierStates({ env, db }, repositories);
  const found = repositories.flatMap((one) => stateAt(one, earlier.get(one.id) ?? [], at) ?? []);
  if (found.length < repositories.length) throw noSuchDay(day, daysOf(repositories, earlier));
  await refuseMissingParts(env, { repositories, found, day });
  return found;
}

/** The days at whose beginning Kiln had the contents of all these repositories, earliest first. */
export async function daysKnown(services: Services<AsOfEnv>, repositories: readonly Repository[]): Promise<Days[]> {
  return daysOf(repositories, await earlierStates(services, repositories));
}

/**
 * States that were replaced before this time are removed. It is an hour earlier than the limit for using them, so that
 * a build that is just starting still finds their files.
 */
export const statesEndBefore = ({ KEEP_REPOSITORIES_DAYS: days }: AsOfEnv, now: number): Date =>
  new Date(now - Number(days) * dayMs - 60 * 60_000);

async function earlierStates(
  { env, db }: Services<AsOfEnv>,
  repositories: readonly Repository[],
): Promise<Map<number, RepositoryState[]>> {
  const after = new Date(Date.now() - Number(env.KEEP_REPOSITORIES_DAYS) * dayMs);
  const ids = repositories.map(({ id }) => id);
  return Map.groupBy(await listStates(db, ids, after), ({ repositoryId }) => repositoryId);
}

function momentOf(day: string): number {
  const at = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(at) || dayOf(at) !== day) throw new Refusal("invalid_value", { message: `${day} is not a date.` });
  if (at <= Date.now()) return at;
  throw new Refusal("invalid_value", { message: `${day} has not begun yet (UTC).` });
}

function stateAt(repository: Repository, earlier: readonly RepositoryState[], at: number): Repository | undefined {
  if (repository.importedAt !== null && repository.importedAt.getTime() <= at) return repository;
  const state = earlier.find(({ importedAt, replacedAt }) => importedAt.getTime() <= at && at < replacedAt.getTime());
  if (!state) return undefined;
  const { id: _id, repositoryId: _repositoryId, replacedAt: _replacedAt, ...shown } = state;
  return { ...repository, ...shown };
}

/** Refuses missing parts, because resolving without them would use the current contents instead. */
async function refuseMissingParts(
  { BLOBS }: AsOfEnv,
  { repositories, found, day }: { repositories: readonly Repository[]; found: readonly Repository[]; day: string },
): Promise<void> {
  const parts = found.filter((one) => !repositories.includes(one)).flatMap((one) => one.parts);
  const heads = await Promise.all(parts.map((key) => BLOBS.head(key)));
  if (heads.includes(null)) throw noSuchDay(day, []);
}

function daysOf(repositories: readonly Repository[], earlier: ReadonlyMap<number, RepositoryState[]>): Days[] {
  const all = repositories.map((one): Period[] => [
    ...(earlier.get(one.id) ?? []).map(({ importedAt, replacedAt }) => periodOf(importedAt, replacedAt.getTime())),
    ...(one.importedAt ? [periodOf(one.importedAt, Infinity)] : []),
  ]);
  const first = Math.max(...all.map((periods) => Math.min(...periods.map(({ from }) => from))));
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const days: Days[] = [];
  let isOpen = false;
  for (let at = Math.max(Math.ceil(first / dayMs) * dayMs, today - maxDays * dayMs); at <= today; at += dayMs) {
    const isKnown = all.every((periods) => periods.some(({ from, to }) => from <= at && at < to));
    const last = days.at(-1);
    if (isKnown && isOpen && last) last.to = dayOf(at);
    else if (isKnown) days.push({ from: dayOf(at), to: dayOf(at) });
    isOpen = isKnown;
  }
  return days;
}

/** How many days are searched. */
const maxDays = 400;

const periodOf = (from: Date, to: number): Period => ({ from: from.getTime(), to });
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The refusal for a day without contents. The specification has no code for it. */
const noSuchDay = (day: string, days: readonly Days[]) =>
  new Refusal("unknown_error", {
    reason: "unknown",
    message: `Kiln does not have these repositories as of ${day}. It has them ${daysInWords(days)}.`,
  });

function daysInWords(days: readonly Days[]): string {
  if (days.length === 0) return "only as they are now: use current";
  const periods = days.map(({ from, to }) => (from === to ? from : `${from} to ${to}`));
  return `as of ${periods.join(", ")}, and as they are now (current)`;
}
