declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

// The packages declare an instance's exports, but a Worker imports the module.
declare module "@jsquash/png/codec/pkg/squoosh_png_bg.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
declare module "@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
