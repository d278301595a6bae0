/**
 * Solvers of an isolate, used by one caller at a time.
 *
 * Several Durable Objects and requests may share an isolate and its 128 MB, which is too little for a solver each. Two
 * of usual size fit, so that alternating requests for two distributions do not reload their packages each time. WASM
 * memory never shrinks, so a solver that has grown beyond the budget is dropped after use.
 *
 * A caller can disappear while it holds the lock: the runtime drops a cancelled request without running its `finally`.
 * So waiting callers watch the holder. It loses the lock if it has not used the solver for `staleAfterMs`, or after its
 * time limit.
 */
import type { PackageType } from "#lib/contract/index";
import { type Arch, openSolver, type Solver } from "./solver.ts";

/** The packages to load into the solver. The same key must always mean the same packages. */
export interface PackageSet {
  key: string;
  arch: Arch;
  packageType: PackageType;
}

/** A caller's exclusive use of a solver: `using lease = await pool.acquire(set)`. */
interface SolverLease extends Disposable {
  solver: Solver;
  /** Whether the solver contains the package set. If not, the caller loads it, and then calls `loaded`. */
  isLoaded: boolean;
  loaded(): void;
}

interface PoolOptions {
  /** The maximum memory of idle solvers, in bytes. It may change. */
  memoryBudgetBytes?: () => number;
  staleAfterMs?: number;
}

/** A caller held the solver for longer than its time limit. */
export class LockTimeout extends Error {}

/** The exclusive use of the solver by one lease or import. */
interface Lock {
  readonly released: Promise<void>;
  release(): void;
  /** Rejects at the time limit. */
  readonly timedOut: Promise<never>;
  timeOut(reason: LockTimeout): void;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A solver and the package set in it; undefined if it contains no complete set. */
interface Resident {
  solver: Solver;
  key: string | undefined;
}

const maxResidents = 2;

/** Extra time of a waiter's timer, so that the holder's own timer fires first. The waiter's is for lost holders. */
const watchersGraceMs = 1000;

export class SolverPool {
  readonly #module: WebAssembly.Module;
  readonly #memoryBudgetBytes: () => number;
  readonly #staleAfterMs: number;
  /** The most recently used solver is at the end. */
  #residents: Resident[] = [];
  /** The solver of the current lock. */
  #current: Resident | undefined;
  #lock: Lock | undefined;

  constructor(
    module: WebAssembly.Module,
    { memoryBudgetBytes = () => 90 << 20, staleAfterMs = 20_000 }: PoolOptions = {},
  ) {
    this.#module = module;
    this.#memoryBudgetBytes = memoryBudgetBytes;
    this.#staleAfterMs = staleAfterMs;
  }

  /**
   * Waits until a solver is free, and reserves it until the lease is disposed. It contains the package set if a recent
   * caller used the same set; otherwise it is empty. Do not acquire a second lease while you hold one.
   */
  async acquire({ key, arch, packageType }: PackageSet): Promise<SolverLease> {
    const lock = await this.#takeLock();
    try {
      const wholeKey = `${packageType} ${arch} ${key}`;
      const resident = this.#residents.find((one) => one.key === wholeKey) ?? (await this.#open(lock));
      this.#use(resident);
      const isLoaded = resident.key === wholeKey;
      if (!isLoaded) {
        resident.key = undefined;
        resident.solver.reset({ arch, packageType });
      }
      return {
        solver: resident.solver,
        isLoaded,
        loaded: () => {
          resident.solver.ready();
          resident.key = wholeKey;
        },
        [Symbol.dispose]: () => this.#release(lock),
      };
    } catch (error) {
      this.#release(lock);
      throw error;
    }
  }

  /**
   * Runs `work` with an empty solver, for an import. Its architecture is x86_64, so it accepts rpms for i686 too. It
   * needs the memory of all other solvers. After `maxMs` the caller loses the solver and gets `LockTimeout`.
   */
  async withEmptySolver<T>(
    work: (solver: Solver) => Promise<T> | T,
    { maxMs = Infinity, packageType = "rpm" }: { maxMs?: number; packageType?: PackageType } = {},
  ): Promise<T> {
    const lock = await this.#takeLock(maxMs);
    const timer = maxMs === Infinity ? undefined : setTimeout(() => this.#timeOut(lock), maxMs);
    try {
      return await Promise.race([this.#workEmpty(lock, packageType, work), lock.timedOut]);
    } finally {
      clearTimeout(timer);
      this.#release(lock);
    }
  }

  /** Bytes of memory that the solvers hold. */
  get heldBytes(): number {
    return this.#residents.reduce((sum, { solver }) => sum + solver.heldBytes, 0);
  }

  /** Drops idle solvers until the others leave this many bytes of the budget free. */
  trim(leftBytes = 0): void {
    for (const one of this.#residents) {
      if (this.heldBytes <= this.#memoryBudgetBytes() - leftBytes) return;
      if (one !== this.#current) this.#drop(one, "the solvers had grown beyond their budget");
    }
  }

  async #workEmpty<T>(lock: Lock, packageType: PackageType, work: (solver: Solver) => Promise<T> | T): Promise<T> {
    for (const other of this.#residents.slice(1)) this.#drop(other, "an import needs its memory");
    const resident = this.#residents[0] ?? (await this.#open(lock));
    this.#use(resident);
    resident.key = undefined;
    resident.solver.reset({ arch: "x86_64", packageType });
    return work(resident.solver);
  }

  async #takeLock(maxMs = Infinity): Promise<Lock> {
    while (this.#lock) await this.#watch(this.#lock);
    this.#lock = newLock(maxMs);
    return this.#lock;
  }

  /**
   * Drops the instance too, so that whatever its holder still does fails and cannot change another caller's packages.
   */
  #timeOut(lock: Lock): void {
    if (this.#lock !== lock) return;
    const reason = new LockTimeout("the solver was in use for too long");
    this.#dropCurrent(reason.message);
    this.#release(lock);
    lock.timeOut(reason);
  }

  /** Waits until the lock is released, or releases it if its holder has disappeared. */
  async #watch(lock: Lock): Promise<void> {
    const before = this.#current?.solver.callCount;
    await releaseOrTimeout(lock.released, Math.min(this.#staleAfterMs, lock.expiresAt + watchersGraceMs - Date.now()));
    if (this.#lock !== lock) return;
    if (Date.now() >= lock.expiresAt) return this.#timeOut(lock);
    if (this.#current?.solver.callCount !== before) return;
    this.#dropCurrent("its holder did not use it for too long");
    this.#release(lock);
  }

  /** Returns a new solver if there is room for it, otherwise the least recently used one. */
  async #open(lock: Lock): Promise<Resident> {
    const [oldest, second] = this.#residents;
    const half = this.#memoryBudgetBytes() / maxResidents;
    if (oldest && (second || oldest.key === undefined || oldest.solver.heldBytes > half)) return oldest;
    const opened = { solver: await openSolver(this.#module), key: undefined };
    if (this.#lock !== lock) throw new Error("the solver started too slowly: another caller holds it now");
    this.#residents.push(opened);
    return opened;
  }

  #use(resident: Resident): void {
    this.#current = resident;
    this.#residents = [...this.#residents.filter((one) => one !== resident), resident];
  }

  #release(lock: Lock): void {
    if (this.#lock !== lock) return;
    if (this.#current?.solver.isGone) this.#dropCurrent("crashed");
    this.#current = undefined;
    this.#lock = undefined;
    this.trim();
    lock.release();
  }

  #dropCurrent(reason: string): void {
    if (this.#current) this.#drop(this.#current, reason);
  }

  #drop(resident: Resident, reason: string): void {
    resident.solver.close(reason);
    this.#residents = this.#residents.filter((one) => one !== resident);
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
