import { env } from "cloudflare:workers";
import { solverModule } from "#lib/solver/module";
import { openSolver, type Solver } from "#lib/solver/solver";
import { aliasOf, type Repository } from "#storage/repositories";

/** A solver with the parts that an import has stored in R2. */
export async function solverOf({ id, parts }: Pick<Repository, "id" | "parts">): Promise<Solver> {
  const solver = await openSolver(solverModule);
  const repository = solver.addRepository(aliasOf(id));
  for (const key of parts) {
    const part = await env.BLOBS.get(key);
    if (!part) throw new Error(`${key} does not exist`);
    repository.loadPart(new Uint8Array(await part.arrayBuffer()));
  }
  solver.ready();
  return solver;
}
