/** Replaces the solvers of an isolate, which end with its process. */
import { solverModule } from "#lib/solver/module";
import { SolverPool } from "#lib/solver/pool";

const newPool = () => new SolverPool(solverModule, { memoryBudgetBytes: () => 0 });

export let importPool = newPool();
export let solverPool = newPool();

export function endSolvers(): void {
  [importPool, solverPool] = [newPool(), newPool()];
}
