import module from "./native/probe.wasm";

/** Whether this runtime can instantiate imported WASM modules, as the solver needs. */
export async function wasmWorks(): Promise<boolean> {
  const instance = await WebAssembly.instantiate(module);
  const { add } = instance.exports as { add: (left: number, right: number) => number };
  return add(40, 2) === 42;
}
