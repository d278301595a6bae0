import { tooFast } from "#domain/refusal";

export interface TurnLimits {
  /** How many tasks may run at the same time, in total and per key. */
  atOnce: number;
  atOncePerKey?: number;
  /** How many tasks may wait, in total and per key. */
  waiting: number;
  waitingPerKey: number;
  /** A request that has waited this long is refused. */
  maxWaitMs: number;
  /**
   * The longest turn. The runtime drops the request of a client that has disconnected, without running `finally`, so
   * its turn ends after this time.
   */
  maxTurnMs: number;
  /** A pause between two tasks, in which other requests can run. */
  pauseMs?: number;
  /** The message of the refusal. */
  message: string;
}

interface Entry {
  readonly key: string;
  /** The entry with the lowest rank is next. Each key's first task comes before any key's second one. */
  readonly rank: number;
  /** Decides between equal ranks. */
  readonly nth: number;
  /** Milliseconds, from `performance.now()`. */
  lookedAt: number;
  begunAt: number | undefined;
  /** Whether the entry was refused in favour of another. */
  isRefused: boolean;
}

const lookEveryMs = 20;
/** A waiting request checks often. If it has not checked for this long, the runtime has dropped it. */
const goneAfterMs = 1000;

/** With more keys than this, all ranks are forgotten, which only changes the order of the keys. */
const maxKeys = 1000;

/** Runs this isolate's costly tasks a few at a time. Keys (accounts, addresses) take turns. */
export class FairTurns {
  readonly #limits: TurnLimits;
  #entries = new Set<Entry>();
  /** The rank of the task that began last, and the last rank of each key. */
  #served = 0;
  #ranks = new Map<string, number>();
  #joined = 0;
  #pauseUntil = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Runs the task when it is the key's turn. Refused with "too_fast" if too many tasks are waiting, or if the turn does
   * not come in time.
   */
  async take<T>(key: string | number, work: () => Promise<T>): Promise<T> {
    const entry = this.#join(String(key));
    try {
      await this.#turn(entry);
      return await work();
    } finally {
      this.#entries.delete(entry);
      if (entry.begunAt !== undefined) this.#pauseUntil = performance.now() + (this.#limits.pauseMs ?? 0);
    }
  }

  #join(key: string): Entry {
    this.#dropGone();
    const waiting = [...this.#entries].filter((one) => one.begunAt === undefined);
    const entry: Entry = {
      key,
      rank: this.#rankOf(key),
      nth: this.#joined++,
      lookedAt: performance.now(),
      begunAt: undefined,
      isRefused: false,
    };
    this.#entries.add(entry);
    const ofKey = waiting.filter((one) => one.key === key);
    const hasRoom = ofKey.length < this.#limits.waitingPerKey && this.#makesRoom(entry, waiting);
    if (!hasRoom && !this.#isNext(entry)) {
      this.#entries.delete(entry);
      throw this.#refused();
    }
    this.#ranks.set(key, entry.rank);
    return entry;
  }

  /** If too many tasks wait, refuses the last entry of a key that has several, to make room for a key that has none. */
  #makesRoom(entry: Entry, waiting: Entry[]): boolean {
    if (waiting.length < this.#limits.waiting) return true;
    const last = waiting.reduce((one, other) => (isBefore(one, other) ? other : one), entry);
    if (last.rank === entry.rank) return false;
    last.isRefused = true;
    this.#entries.delete(last);
    return true;
  }

  #rankOf(key: string): number {
    if (this.#entries.size === 0 || this.#ranks.size >= maxKeys) this.#ranks.clear();
    const last = this.#ranks.get(key);
    return last === undefined ? this.#served : Math.max(this.#served, last + 1);
  }

  async #turn(entry: Entry): Promise<void> {
    const until = performance.now() + this.#limits.maxWaitMs;
    while (!this.#isNext(entry)) {
      if (entry.isRefused || performance.now() >= until) throw this.#refused();
      await scheduler.wait(lookEveryMs);
      const wasBlocked = performance.now() - entry.lookedAt > goneAfterMs;
      entry.lookedAt = performance.now();
      // If the event loop was blocked for a long time, no request could check. A new request treats all as dropped.
      this.#entries.add(entry);
      if (!wasBlocked) this.#dropGone();
    }
    entry.begunAt = performance.now();
    this.#served = entry.rank;
  }

  #isNext(entry: Entry): boolean {
    if (performance.now() < this.#pauseUntil) return false;
    const all = [...this.#entries];
    const running = all.filter(({ begunAt }) => begunAt !== undefined);
    if (running.length >= this.#limits.atOnce) return false;
    const mayBegin = (one: Entry) =>
      one.begunAt === undefined &&
      running.filter(({ key }) => key === one.key).length < (this.#limits.atOncePerKey ?? 1);
    return mayBegin(entry) && !all.some((other) => mayBegin(other) && isBefore(other, entry));
  }

  #dropGone(): void {
    const now = performance.now();
    for (const entry of this.#entries) {
      const isGone =
        entry.begunAt === undefined ? entry.lookedAt < now - goneAfterMs : entry.begunAt < now - this.#limits.maxTurnMs;
      if (isGone) this.#entries.delete(entry);
    }
  }

  #refused = () => tooFast(Math.ceil(this.#limits.maxWaitMs / 1000), this.#limits.message);
}

const isBefore = (one: Entry, other: Entry): boolean =>
  one.rank === other.rank ? one.nth < other.nth : one.rank < other.rank;
