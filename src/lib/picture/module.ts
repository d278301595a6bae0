/** Only this file imports the codecs' WASM modules. */
export { default as pngModule } from "@jsquash/png/codec/pkg/squoosh_png_bg.wasm";
export { default as resizeModule } from "@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm";
