import { createHash } from "node:crypto";
import { tooFast } from "#domain/refusal";
import { logFailure } from "#log/log";

/** The credentials that a client signs in with, and its address. */
export interface Credentials {
  username: string;
  /** An API key, or on pages the password. */
  key: string;
  /** An IP address. Undefined if it is unknown. */
  address?: string | undefined;
}

export type ThrottleEnv = Pick<Env, "SIGN_IN_THROTTLE" | "ADDRESS_THROTTLE">;

/** The period of both bindings in wrangler.toml. */
const throttleSeconds = 60;
/** How many different keys may be tried at the same time for one account from one address. */
const maxAtOnce = 4;
/** The longest time that an attempt counts, because an attempt whose client has disconnected may never end. */
const longestAttemptMs = 10_000;

const maxEntries = 10_000;

/** Recently noted names, in this isolate's memory. New names replace the oldest. */
class Recent {
  readonly #until = new Map<string, number>();

  note(name: string, until = Infinity): void {
    this.#until.delete(name);
    this.#until.set(name, until);
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= maxEntries) break;
      this.#until.delete(oldest);
    }
  }

  has(name: string): boolean {
    return (this.#until.get(name) ?? 0) > Date.now();
  }

  forget(name: string): void {
    this.#until.delete(name);
  }
}

const throttledNames = new Recent();
/** Credentials that have opened an account. Failures of others do not block them. */
const knownGood = new Recent();
const inProgress = new Map<string, Map<string, number>>();

/**
 * Tries credentials, unless too many wrong ones came recently from their address, for this account or in total.
 * Credentials that were right before are always tried. `check` may call `refuse` again before it does something
 * expensive.
 */
export async function throttled<T extends object>(
  env: ThrottleEnv,
  given: Credentials,
  check: (refuse: () => void) => Promise<T | undefined>,
): Promise<T | undefined> {
  const credentials = credentialsName(given);
  const isKnownGood = knownGood.has(credentials);
  if (isKnownGood) {
    const found = await check(() => {});
    if (found) return found;
    knownGood.forget(credentials);
  }
  const names = { credentials, ...namesOf(given) };
  if (!isKnownGood) {
    const refuse = () => refuseWhileThrottled(names);
    refuse();
    const found = await limitConcurrency(names, () => check(refuse));
    if (found) knownGood.note(names.credentials);
    if (found) return found;
  }
  await countFailure(env, names);
  return undefined;
}

type Names = Record<"address" | "account" | "credentials", string>;

/** Digests instead of names and keys, because names and keys can have any length, and keys must not be stored. */
function namesOf({ username, address }: Credentials): Omit<Names, "credentials"> {
  const network = networkOf(address);
  return { address: network && digest(network), account: digest(network, username) };
}

const credentialsName = ({ username, key, address }: Credentials): string => digest(networkOf(address), username, key);

const digest = (...words: string[]) => createHash("sha256").update(JSON.stringify(words)).digest("base64");

/**
 * The first 64 bits of an IPv6 address, because a client with one address of such a network usually has all of them.
 */
export function networkOf(address = ""): string {
  if (!address.includes(":")) return address;
  const [head = [], tail = []] = address.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, 4).join(":");
}

function refuseWhileThrottled({ address, account }: Names): void {
  if (throttledNames.has(account) || throttledNames.has(address)) throw tooManyFailures();
}

const tooManyFailures = () =>
  tooFast(throttleSeconds, "Too many wrong passwords or keys came from your address. Wait a minute, then try again.");

/** Limits simultaneous attempts. Otherwise many of them would be tried before the first one has failed. */
async function limitConcurrency<T>({ account, credentials }: Names, attempt: () => Promise<T>): Promise<T> {
  const others = inProgress.get(account) ?? new Map<string, number>();
  for (const [other, since] of others) if (since < Date.now() - longestAttemptMs) others.delete(other);
  if (!others.has(credentials) && others.size >= maxAtOnce) throw tooManyFailures();
  others.set(credentials, Date.now());
  inProgress.set(account, others);
  try {
    return await attempt();
  } finally {
    others.delete(credentials);
    if (others.size === 0) inProgress.delete(account);
  }
}

/**
 * The bindings count per Cloudflare location, and only approximately, which is enough for a throttle. If they fail,
 * sign-in still works.
 */
async function countFailure(
  { SIGN_IN_THROTTLE, ADDRESS_THROTTLE }: ThrottleEnv,
  { account, address }: Names,
): Promise<void> {
  const counted = await Promise.allSettled([
    countOne(SIGN_IN_THROTTLE, account),
    ...(address === "" ? [] : [countOne(ADDRESS_THROTTLE, address)]),
  ]);
  for (const one of counted) if (one.status === "rejected") logFailure("could not count a failed sign-in", one.reason);
}

async function countOne(binding: RateLimit, name: string): Promise<void> {
  const { success } = await binding.limit({ key: name });
  if (!success) throttledNames.note(name, Date.now() + throttleSeconds * 1000);
}
