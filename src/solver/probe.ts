import module from "./native/probe.wasm";

/** Whether this runtime instantiates WASM modules that are imported, which the solver depends on. */
export async function wasmWorks(): Promise<boolean> {
  const instance = await WebAssembly.instantiate(module);
  const { add } = instance.exports as { add: (left: number, right: number) => number };
  return add(40, 2) === 42;
}
