/** Only this file imports the WASM module. All other code takes it as an argument, so that it also runs in Node. */
export { default as solverModule } from "./native/solver.wasm";
