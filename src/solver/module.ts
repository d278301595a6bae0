/** The only importer of the solver's code; everything else is given the module, so that Node can use it too. */
export { default as solverModule } from "./native/solver.wasm";
