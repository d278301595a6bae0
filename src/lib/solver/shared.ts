/** The solvers of this isolate. */
import { solverModule } from "./module.ts";
import { SolverPool } from "./pool.ts";

const maxBytes = 90 << 20;
/**
 * An import needs memory for JavaScript too. The packages of a large distribution and of an import are less than this.
 */
const maxBytesDuringImport = 60 << 20;

/**
 * The pool for imports, which take many seconds, so that selections of packages need not wait for them. Its instance
 * does not outlive an import.
 */
export const importPool = new SolverPool(solverModule, { memoryBudgetBytes: () => 0 });

/** The pool for everything else. Imports call its `trim` while they grow. */
export const solverPool = new SolverPool(solverModule, {
  memoryBudgetBytes: () => {
    const importing = importPool.heldBytes;
    return (importing > 0 ? maxBytesDuringImport : maxBytes) - importing;
  },
});
