/**
 * One solver for a whole isolate, used by one caller at a time.
 *
 * Several Durable Objects and requests may share an isolate and its 128 MB, so that a solver for each does not fit. And
 * WASM memory never shrinks: an instance that has grown beyond its budget is dropped after use.
 *
 * A caller can vanish while it waits for something: the runtime forgets a cancelled request without running its
 * `finally`. Therefore whoever waits watches the holder; one that has not touched the solver for `staleAfterMs` loses it, and
 * so does one that has had it for longer than it may.
 */
import { type Arch, openSolver, type Solver } from "./solver.ts";

/** What the solver is to be filled with. The same key must always mean the same packages. */
export interface PackageSet {
  key: string;
  arch: Arch;
}

export interface RoomOptions {
  memoryBudgetBytes?: number;
  staleAfterMs?: number;
}

/** A caller had the solver for longer than it may. */
export class TurnTooLong extends Error {}

/** A caller's time with the solver. */
interface Turn {
  readonly ended: Promise<void>;
  end(): void;
  /** Rejects when the turn has lasted too long. */
  readonly overdue: Promise<never>;
  cut(reason: TurnTooLong): void;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** The holder's own timer is first; a waiter's is for a holder that the runtime has forgotten. */
const watchersGraceMs = 1000;

export class SolverRoom {
  readonly #module: WebAssembly.Module;
  readonly #memoryBudgetBytes: number;
  readonly #staleAfterMs: number;
  #solver: Solver | undefined;
  #loadedKey: string | undefined;
  #turn: Turn | undefined;

  constructor(module: WebAssembly.Module, { memoryBudgetBytes = 90 << 20, staleAfterMs = 20_000 }: RoomOptions = {}) {
    this.#module = module;
    this.#memoryBudgetBytes = memoryBudgetBytes;
    this.#staleAfterMs = staleAfterMs;
  }

  /**
   * Works with a solver that holds the set: as it is when the last caller had the same, else reset and filled by `load`.
   * The solver is yours until `work` ends; do not change or keep it, and do not enter the room again from inside.
   */
  async withSolver<T>(
    { key, arch }: PackageSet,
    load: (solver: Solver) => Promise<void> | void,
    work: (solver: Solver) => Promise<T> | T,
  ): Promise<T> {
    return this.#inTurn(async (turn) => {
      const solver = await this.#open(turn);
      if (this.#loadedKey === `${arch} ${key}`) return work(solver);
      this.#loadedKey = undefined;
      solver.reset(arch);
      await load(solver);
      solver.ready();
      this.#loadedKey = `${arch} ${key}`;
      return work(solver);
    });
  }

  /**
   * Works with an empty solver, to do with it what you like: an import, a decompression. It is for x86_64, so that it sees
   * packages for i686, too. Work that has not ended after `longestMs` loses it, and the caller gets `TurnTooLong`.
   */
  async withEmptySolver<T>(
    work: (solver: Solver) => Promise<T> | T,
    { longestMs = Infinity }: { longestMs?: number } = {},
  ): Promise<T> {
    return this.#inTurn(async (turn) => {
      const solver = await this.#open(turn);
      this.#loadedKey = undefined;
      solver.reset("x86_64");
      return work(solver);
    }, longestMs);
  }

  async #inTurn<T>(work: (turn: Turn) => Promise<T>, longestMs = Infinity): Promise<T> {
    while (this.#turn) await this.#watch(this.#turn);
    const turn = newTurn(longestMs);
    this.#turn = turn;
    const timer = longestMs === Infinity ? undefined : setTimeout(() => this.#cut(turn), longestMs);
    try {
      return await Promise.race([work(turn), turn.overdue]);
    } finally {
      clearTimeout(timer);
      this.#end(turn);
    }
  }

  /** Takes the instance away with the turn: what its holder still does fails and touches nobody else's packages. */
  #cut(turn: Turn): void {
    if (this.#turn !== turn) return;
    const reason = new TurnTooLong("it took longer than it may");
    this.#drop(reason.message);
    this.#end(turn);
    turn.cut(reason);
  }

  /** Waits until the turn has ended, or ends it when its holder does nothing any more. */
  async #watch(turn: Turn): Promise<void> {
    const before = this.#solver?.callCount;
    await endOrTime(turn.ended, Math.min(this.#staleAfterMs, turn.endsAt + watchersGraceMs - Date.now()));
    if (this.#turn !== turn) return;
    if (Date.now() >= turn.endsAt) return this.#cut(turn);
    if (this.#solver?.callCount !== before) return;
    this.#drop("its holder was silent for too long");
    this.#end(turn);
  }

  async #open(turn: Turn): Promise<Solver> {
    if (this.#solver && !this.#solver.isGone) return this.#solver;
    const opened = await openSolver(this.#module);
    if (this.#turn !== turn) throw new Error("the solver took so long to start that another caller has it now");
    this.#loadedKey = undefined;
    this.#solver = opened;
    return opened;
  }

  #end(turn: Turn): void {
    if (this.#turn !== turn) return;
    if (this.#solver?.isGone) this.#drop("crashed");
    else if ((this.#solver?.memoryBytes ?? 0) > this.#memoryBudgetBytes) this.#drop("it had grown beyond its budget");
    this.#turn = undefined;
    turn.end();
  }

  #drop(reason: string): void {
    this.#solver?.close(reason);
    this.#solver = undefined;
    this.#loadedKey = undefined;
  }
}

function newTurn(longestMs: number): Turn {
  const end = Promise.withResolvers<void>();
  const overdue = Promise.withResolvers<never>();
  return {
    ended: end.promise,
    end: end.resolve,
    overdue: overdue.promise,
    cut: overdue.reject,
    endsAt: Date.now() + longestMs,
  };
}

async function endOrTime(ended: Promise<void>, timeMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeMs);
  await Promise.race([ended, promise]);
  clearTimeout(timer);
}
