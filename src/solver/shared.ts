/** The one solver of this isolate. */
import { solverModule } from "./module.ts";
import { SolverRoom } from "./room.ts";

export const solverRoom = new SolverRoom(solverModule);
