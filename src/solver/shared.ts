/** The isolate's one solver. */
import { solverModule } from "./module.ts";
import { SolverRoom } from "./room.ts";

export const solverRoom = new SolverRoom(solverModule);
