/**
 * One solver for a whole isolate, used by one caller at a time.
 *
 * Several Durable Objects and requests may share an isolate and its 128 MB, which is too little for a solver each. WASM
 * memory never shrinks, so an instance that has grown beyond its budget is dropped after use.
 *
 * A caller can disappear while it holds the lock: the runtime drops a cancelled request without running its `finally`. So
 * waiting callers watch the holder. It loses the lock if it has not used the solver for `staleAfterMs`, or after its time limit.
 */
import { type Arch, openSolver, type Solver } from "./solver.ts";

/** The packages to load into the solver. The same key must always mean the same packages. */
export interface PackageSet {
  key: string;
  arch: Arch;
}

export interface RoomOptions {
  memoryBudgetBytes?: number;
  staleAfterMs?: number;
}

/** A caller held the solver for longer than its time limit. */
export class TurnTooLong extends Error {}

/** A caller's exclusive use of the solver. */
interface Turn {
  readonly ended: Promise<void>;
  end(): void;
  /** Rejects at the time limit. */
  readonly overdue: Promise<never>;
  cut(reason: TurnTooLong): void;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** Extra time of a waiter's timer, so that the holder's own timer fires first. The waiter's is for a holder that disappeared. */
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
   * Runs `work` with a solver that contains the package set. `load` fills it, unless the last caller used the same set. Do not
   * change the solver, use it after `work` ends, or call `withSolver` from inside.
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
   * Runs `work` with an empty solver, for an import or a decompression. Its architecture is x86_64, so it accepts packages for
   * i686 too. After `longestMs` the caller loses the solver and gets `TurnTooLong`.
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

  /** Drops the instance too, so that whatever its holder still does fails and cannot change another caller's packages. */
  #cut(turn: Turn): void {
    if (this.#turn !== turn) return;
    const reason = new TurnTooLong("the solver was in use for too long");
    this.#drop(reason.message);
    this.#end(turn);
    turn.cut(reason);
  }

  /** Waits for the end of the turn, or ends it if its holder has disappeared. */
  async #watch(turn: Turn): Promise<void> {
    const before = this.#solver?.callCount;
    await endOrTime(turn.ended, Math.min(this.#staleAfterMs, turn.endsAt + watchersGraceMs - Date.now()));
    if (this.#turn !== turn) return;
    if (Date.now() >= turn.endsAt) return this.#cut(turn);
    if (this.#solver?.callCount !== before) return;
    this.#drop("its holder did not use it for too long");
    this.#end(turn);
  }

  async #open(turn: Turn): Promise<Solver> {
    if (this.#solver && !this.#solver.isGone) return this.#solver;
    const opened = await openSolver(this.#module);
    if (this.#turn !== turn) throw new Error("the solver started too slowly: another caller holds it now");
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
