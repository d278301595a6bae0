/**
 * One solver for a whole isolate, used by one caller at a time.
 *
 * Several Durable Objects and requests may share an isolate and its 128 MB, which is too little for a solver each. WASM
 * memory never shrinks, so an instance that has grown beyond its budget is dropped after use.
 *
 * A caller can disappear while it holds the lock: the runtime drops a cancelled request without running its `finally`. So
 * waiting callers watch the holder. It loses the lock if it has not used the solver for `staleAfterMs`, or after its time limit.
 */
import type { PackageType } from "#contract/index";
import { type Arch, openSolver, type Solver } from "./solver.ts";

/** The packages to load into the solver. The same key must always mean the same packages. */
export interface PackageSet {
  key: string;
  arch: Arch;
  packageType: PackageType;
}

export interface RoomOptions {
  memoryBudgetBytes?: number;
  staleAfterMs?: number;
}

/** A caller held the solver for longer than its time limit. */
export class LockTimeout extends Error {}

/** A caller's exclusive use of the solver. */
interface Lock {
  readonly released: Promise<void>;
  release(): void;
  /** Rejects at the time limit. */
  readonly timedOut: Promise<never>;
  timeOut(reason: LockTimeout): void;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Extra time of a waiter's timer, so that the holder's own timer fires first. The waiter's is for a holder that disappeared. */
const watchersGraceMs = 1000;

export class SolverRoom {
  readonly #module: WebAssembly.Module;
  readonly #memoryBudgetBytes: number;
  readonly #staleAfterMs: number;
  #solver: Solver | undefined;
  #loadedKey: string | undefined;
  #lock: Lock | undefined;

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
    { key, arch, packageType }: PackageSet,
    load: (solver: Solver) => Promise<void> | void,
    work: (solver: Solver) => Promise<T> | T,
  ): Promise<T> {
    return this.#withLock(async (lock) => {
      const solver = await this.#open(lock);
      const wholeKey = `${packageType} ${arch} ${key}`;
      if (this.#loadedKey === wholeKey) return work(solver);
      this.#loadedKey = undefined;
      solver.reset({ arch, packageType });
      await load(solver);
      solver.ready();
      this.#loadedKey = wholeKey;
      return work(solver);
    });
  }

  /**
   * Runs `work` with an empty solver, for an import or a decompression. Its architecture is x86_64, so it accepts rpms for
   * i686 too. After `maxMs` the caller loses the solver and gets `LockTimeout`.
   */
  async withEmptySolver<T>(
    work: (solver: Solver) => Promise<T> | T,
    { maxMs = Infinity, packageType = "rpm" }: { maxMs?: number; packageType?: PackageType } = {},
  ): Promise<T> {
    return this.#withLock(async (lock) => {
      const solver = await this.#open(lock);
      this.#loadedKey = undefined;
      solver.reset({ arch: "x86_64", packageType });
      return work(solver);
    }, maxMs);
  }

  async #withLock<T>(work: (lock: Lock) => Promise<T>, maxMs = Infinity): Promise<T> {
    while (this.#lock) await this.#watch(this.#lock);
    const lock = newLock(maxMs);
    this.#lock = lock;
    const timer = maxMs === Infinity ? undefined : setTimeout(() => this.#timeOut(lock), maxMs);
    try {
      return await Promise.race([work(lock), lock.timedOut]);
    } finally {
      clearTimeout(timer);
      this.#release(lock);
    }
  }

  /** Drops the instance too, so that whatever its holder still does fails and cannot change another caller's packages. */
  #timeOut(lock: Lock): void {
    if (this.#lock !== lock) return;
    const reason = new LockTimeout("the solver was in use for too long");
    this.#drop(reason.message);
    this.#release(lock);
    lock.timeOut(reason);
  }

  /** Waits until the lock is released, or releases it if its holder has disappeared. */
  async #watch(lock: Lock): Promise<void> {
    const before = this.#solver?.callCount;
    await releaseOrTimeout(lock.released, Math.min(this.#staleAfterMs, lock.expiresAt + watchersGraceMs - Date.now()));
    if (this.#lock !== lock) return;
    if (Date.now() >= lock.expiresAt) return this.#timeOut(lock);
    if (this.#solver?.callCount !== before) return;
    this.#drop("its holder did not use it for too long");
    this.#release(lock);
  }

  async #open(lock: Lock): Promise<Solver> {
    if (this.#solver && !this.#solver.isGone) return this.#solver;
    const opened = await openSolver(this.#module);
    if (this.#lock !== lock) throw new Error("the solver started too slowly: another caller holds it now");
    this.#loadedKey = undefined;
    this.#solver = opened;
    return opened;
  }

  #release(lock: Lock): void {
    if (this.#lock !== lock) return;
    if (this.#solver?.isGone) this.#drop("crashed");
    else if ((this.#solver?.memoryBytes ?? 0) > this.#memoryBudgetBytes) this.#drop("it had grown beyond its budget");
    this.#lock = undefined;
    lock.release();
  }

  #drop(reason: string): void {
    this.#solver?.close(reason);
    this.#solver = undefined;
    this.#loadedKey = undefined;
  }
}

function newLock(maxMs: number): Lock {
  const release = Promise.withResolvers<void>();
  const timedOut = Promise.withResolvers<never>();
  return {
    released: release.promise,
    release: release.resolve,
    timedOut: timedOut.promise,
    timeOut: timedOut.reject,
    expiresAt: Date.now() + maxMs,
  };
}

async function releaseOrTimeout(released: Promise<void>, timeMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeMs);
  await Promise.race([released, promise]);
  clearTimeout(timer);
}
