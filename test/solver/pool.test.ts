import { describe, expect, it } from "vitest";
import { solverModule } from "#lib/solver/module";
import { SolverCrashed } from "#lib/solver/native";
import { SolverPool, LockTimeout, type PackageSet } from "#lib/solver/pool";
import type { Solver } from "#lib/solver/solver";
import { jobOf, primaryXmlOf } from "./repo-dsl.ts";

const xml = (...packages: string[]): Uint8Array => new TextEncoder().encode(primaryXmlOf(packages));
const pause = (timeMs: number) => new Promise<void>((resolve) => setTimeout(resolve, timeMs));
const set = (key: string) => ({ key, arch: "x86_64", packageType: "rpm" }) as const;

describe("SolverPool", () => {
  it("loads a set once for all callers that request it", async () => {
    const { pool, loads, names } = poolWith();
    expect(await Promise.all([names("one"), names("one"), names("one")])).toEqual([["one"], ["one"], ["one"]]);
    expect(await withSolver(pool, set("one"), fail, has("one"))).toBe(true);
    expect(loads).toEqual(["one"]);
  });
  it("has room for two sets, and resets the one that was not used for longest", async () => {
    const { loads, names } = poolWith();
    for (const key of ["one", "two", "one", "two", "one", "three", "one", "two"])
      expect(await names(key)).toEqual([key]);
    expect(loads).toEqual(["one", "two", "three", "two"]);
  });
  it("has room for one set of more than half of its budget", async () => {
    const { loads, names } = poolWith({ memoryBudgetBytes: () => 2 << 20 });
    for (const key of ["one", "two", "one"]) expect(await names(key)).toEqual([key]);
    expect(loads).toEqual(["one", "two", "one"]);
  });
  it("gives an import the room of all sets", async () => {
    const { pool, names } = poolWith();
    const solvers: Solver[] = [];
    for (const key of ["one", "two"])
      await withSolver(
        pool,
        set(key),
        (solver) => fill(solver, key),
        (one) => solvers.push(one),
      );
    await pool.withEmptySolver(() => expect(solvers.filter(({ isGone }) => !isGone)).toHaveLength(1));
    expect(await names("one")).toEqual(["one"]);
  });
  it("treats the same key of another architecture as another set", async () => {
    const { pool } = poolWith();
    await withSolver(pool, set("one"), fillOne, has("one"));
    await expect(withSolver(pool, { ...set("one"), arch: "aarch64" }, fillOne, has("one"))).resolves.toBe(false);
  });
  it("is free again after a solver could not be opened", async () => {
    const failures = [new Error("no memory")];
    const memoryBudgetBytes = () => {
      const [error] = failures.splice(0);
      if (error) throw error;
      return 90 << 20;
    };
    const { names } = poolWith({ memoryBudgetBytes, staleAfterMs: 1_000_000 });
    await expect(names("one")).rejects.toThrow("no memory");
    expect(await names("one")).toEqual(["one"]);
  });
  it("admits one caller at a time, imports included", async () => {
    const { pool } = poolWith();
    let inside = 0;
    let most = 0;
    const enter = async () => {
      most = Math.max(most, ++inside);
      await pause(5);
      inside--;
    };
    const visits = ["a", "b", "a", "c"].map((key) => withSolver(pool, set(key), (solver) => fill(solver, key), enter));
    await Promise.all([...visits, pool.withEmptySolver(enter), pool.withEmptySolver(enter)]);
    expect(most).toBe(1);
  });
  it("loads again after an import", async () => {
    const { pool, loads, names } = poolWith();
    await names("one");
    await pool.withEmptySolver((solver) => expect(solver.search("one").total).toBe(0));
    expect(await names("one")).toEqual(["one"]);
    expect(loads).toEqual(["one", "one"]);
  });
  it("forgets a set that failed to load completely", async () => {
    const { pool, names } = poolWith();
    await expect(withSolver(pool, set("one"), half, has("half"))).rejects.toThrow("the blob is gone");
    expect(await names("one")).toEqual(["one"]);
  });
  it("keeps the set if only the work fails", async () => {
    const { pool, loads, names } = poolWith();
    await names("one");
    await expect(withSolver(pool, set("one"), fail, fail)).rejects.toThrow("never to be called");
    await names("one");
    expect(loads).toEqual(["one"]);
  });
  it("has a new instance after a crash", async () => {
    const { pool, names } = poolWith();
    await expect(pool.withEmptySolver(exhaustMemory)).rejects.toThrow(SolverCrashed);
    expect(await names("one")).toEqual(["one"]);
  });
  it("takes the solver away from work that lasts too long", async () => {
    const { pool, names } = poolWith();
    const released = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    const work = (solver: Solver) => (late = released.promise.then(() => solver.search("one")));
    const long = pool.withEmptySolver(work, { maxMs: 20 });
    const next = names("one");
    await expect(long).rejects.toThrow(LockTimeout);
    expect(await next).toEqual(["one"]);
    released.resolve();
    await expect(late).rejects.toThrow(SolverCrashed);
  });
  it("keeps the instance from using the isolate's last memory", async () => {
    const { pool } = poolWith();
    let memoryBytes = 0;
    const watch = (solver: Solver) => exhaustMemory(solver, (bytes) => (memoryBytes = Math.max(memoryBytes, bytes)));
    await expect(pool.withEmptySolver(watch)).rejects.toThrow(SolverCrashed);
    expect(memoryBytes).toBeGreaterThan(60 << 20);
    expect(memoryBytes).toBeLessThanOrEqual(100 << 20);
  });
  it("drops an instance that exceeds its memory budget, and no other", async () => {
    const pool = new SolverPool(solverModule, { memoryBudgetBytes: () => 10 << 20 });
    const grown = await pool.withEmptySolver((solver) => (growTo(solver, 12 << 20), solver));
    const small = await pool.withEmptySolver((solver) => solver);
    expect(grown.isGone).toBe(true);
    expect(await pool.withEmptySolver((solver) => solver === small)).toBe(true);
  });
  it("is taken from a caller that vanished", async () => {
    const pool = new SolverPool(solverModule, { staleAfterMs: 20 });
    const { promise: vanished, resolve: comeBack } = Promise.withResolvers<void>();
    const late = pool.withEmptySolver(async (solver) => {
      await vanished;
      fill(solver, "late");
    });
    expect(await withSolver(pool, set("one"), fillOne, has("one"))).toBe(true);
    comeBack();
    await expect(late).rejects.toThrow("did not use it for too long");
    expect(await withSolver(pool, set("one"), fail, has("one"))).toBe(true);
  });
  it("is not taken from a caller that is slow but still working", async () => {
    const pool = new SolverPool(solverModule, { staleAfterMs: 40 });
    const slow = pool.withEmptySolver(async (solver) => {
      for (let step = 0; step < 15; step++) {
        await pause(10);
        fill(solver, `step${step}`);
      }
      return solver.isGone;
    });
    await pool.withEmptySolver(() => undefined);
    expect(await slow).toBe(false);
  });
});

function poolWith(options: ConstructorParameters<typeof SolverPool>[1] = {}) {
  const pool = new SolverPool(solverModule, options);
  const loads: string[] = [];
  const load = (key: string) => async (solver: Solver) => {
    loads.push(key);
    await pause(1);
    fill(solver, key);
  };
  const names = (key: string) =>
    withSolver(pool, set(key), load(key), (solver) => solver.search("").hits.map(({ name }) => name));
  return { pool, loads, names };
}

async function withSolver<T>(
  pool: SolverPool,
  packages: PackageSet,
  load: (solver: Solver) => Promise<void> | void,
  work: (solver: Solver) => Promise<T> | T,
): Promise<T> {
  using lease = await pool.acquire(packages);
  if (!lease.isLoaded) {
    await load(lease.solver);
    lease.loaded();
  }
  return await work(lease.solver);
}

function fill(solver: Solver, name: string): void {
  const repository = solver.addRepository("main");
  repository.readPrimary(xml(`${name}-1`));
  repository.finish();
}

const fillOne = (solver: Solver): void => fill(solver, "one");

const half = async (solver: Solver): Promise<void> => {
  fill(solver, "half");
  throw new Error("the blob is gone");
};

const has = (name: string) => (solver: Solver) => solver.solve([jobOf(name)]).state === "solved";

const fail = (): never => {
  throw new Error("never to be called");
};

function growTo(solver: Solver, memoryBytes: number): void {
  const bulky = new TextEncoder().encode(primaryXmlOf(["a-1"]).replace("What a does", "x".repeat(2 << 20)));
  while (solver.memoryBytes < memoryBytes) solver.addRepository("main").readPrimary(bulky);
}

function exhaustMemory(solver: Solver, watch: (memoryBytes: number) => void = () => undefined): void {
  for (;;) {
    growTo(solver, solver.memoryBytes + 1);
    watch(solver.memoryBytes);
  }
}
