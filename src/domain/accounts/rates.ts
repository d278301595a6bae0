import type { Services } from "#domain/services";
import { dailyRates, rates, type Rated } from "#domain/accounts/default-rates";
import { noteInPassing } from "#domain/full-disk";
import { FairTurns } from "#domain/fair-turns";
import { tooFast } from "#domain/refusal";
import { rest } from "#lib/loop/pace";
import { countUse } from "#storage/account-rates";
import type { Database } from "#storage/db";

const windowMs = 10 * 60_000;
const dayMs = 24 * 60 * 60_000;

/** Counts an action of an account. Refused if there were too many within the current ten minutes. */
export async function spend(
  { env, db }: Services<Pick<Env, "ACCOUNT_RATES">>,
  accountId: number,
  what: Rated,
): Promise<void> {
  const most = ratesOf(env)[what];
  const seconds = await waitAfter(db, { accountId, what, most }, { periodMs: windowMs, about: "the use of a call" });
  if (seconds === undefined) return;
  const name = what.replace("_", " ");
  throw tooFast(seconds, `Too many requests (${name}): an account may send ${most} in ten minutes. Wait ${seconds} s.`);
}

/**
 * Counts the packages that an import has read. Failed imports count too, because they cost the same. Returns the limit
 * if the account has reached it, or undefined if the import may continue.
 */
export async function spendPackages(
  { env, db }: Services<Pick<Env, "ACCOUNT_RATES">>,
  accountId: number,
  packages: number,
): Promise<number | undefined> {
  if (packages === 0) return undefined;
  const most = given(env).get("packages_a_day") ?? dailyRates.packages_a_day;
  const use = { accountId, what: "packages_a_day", most, uses: packages };
  const seconds = await waitAfter(db, use, { periodMs: dayMs, about: "packages of an import" });
  return seconds === undefined ? undefined : most;
}

/** Counts a rebuild. Refused if the account has started too many today (UTC). */
export async function spendRebuild(
  { env, db }: Services<Pick<Env, "ACCOUNT_RATES">>,
  accountId: number,
): Promise<void> {
  const most = given(env).get("rebuilds_a_day") ?? dailyRates.rebuilds_a_day;
  const use = { accountId, what: "rebuilds_a_day", most };
  const seconds = await waitAfter(db, use, { periodMs: dayMs, about: "a rebuild" });
  if (seconds === undefined) return;
  throw tooFast(seconds, `An account may start ${most} rebuilds in a day. More are possible after midnight (UTC).`);
}

/**
 * Counts uses in fixed periods of the clock. If there are more than `most` in the current period, returns the seconds
 * until the next one. 0 means no limit.
 */
async function waitAfter(
  db: Database,
  use: Omit<Parameters<typeof countUse>[1], "window">,
  { periodMs, about }: { periodMs: number; about: string },
): Promise<number | undefined> {
  if (use.most === 0) return undefined;
  const now = Date.now();
  const window = Math.floor(now / periodMs);
  const counted = await noteInPassing(about, () => countUse(db, { ...use, window }));
  return counted === false ? Math.ceil(((window + 1) * periodMs - now) / 1000) : undefined;
}

/** Reads that keep D1 or the isolate busy for a tenth of a second or more. */
const costly: ReadonlySet<Rated> = new Set<Rated>(["reads", "differences"]);

const turns = new FairTurns({
  atOnce: 2,
  atOncePerKey: 2,
  waiting: 40,
  waitingPerKey: 20,
  maxWaitMs: 2_000,
  maxTurnMs: 2_000,
  message: "Too many costly requests at the same time. Wait 2 s, then try again.",
});

/**
 * Counts an action as `spend` does, and then runs it. Costly reads run a few at a time, and accounts take turns. A
 * request that waits too long is refused.
 */
export async function spending<T>(
  services: Services<Pick<Env, "ACCOUNT_RATES">>,
  { accountId, what }: { accountId: number; what: Rated },
  act: () => Promise<T>,
): Promise<T> {
  await spend(services, accountId, what);
  if (!costly.has(what)) return await act();
  return await turns.take(accountId, async () => {
    await rest();
    return await act();
  });
}

/** `ACCOUNT_RATES="builds=20 clones=0"` overrides the defaults. 0 means no limit. */
export function ratesOf(env: Pick<Env, "ACCOUNT_RATES">): Record<Rated, number> {
  return { ...rates, ...Object.fromEntries(given(env)) };
}

const given = ({ ACCOUNT_RATES: changed }: Pick<Env, "ACCOUNT_RATES">): Map<string, number> =>
  new Map([...changed.matchAll(/(\w+)=(\d+)/g)].map(([, name = "", most]) => [name, Number(most)]));
