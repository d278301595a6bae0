/**
 * The compiled code of jSquash: a PNG codec and a resizer. We create an instance for each task. jSquash's own loader
 * keeps one instance forever: its memory never shrinks, and a damaged picture leaves it broken.
 */
import type { InitOutput as PngExports } from "@jsquash/png/codec/pkg/squoosh_png.js";
import type { InitOutput as ResizeExports } from "@jsquash/resize/lib/resize/pkg/squoosh_resize.js";
import { pngModule, resizeModule } from "./module.ts";
import { PictureFault } from "./png.ts";

/** Pixels from left to right and from top to bottom, four bytes each: red, green, blue, opacity. */
export interface Picture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

/** Decodes a PNG of any colour type. The pixels are in the instance's memory, so release them soon. */
export function decodePng(png: Uint8Array): Picture {
  let found: { at: number; bytes: number; width: number; height: number } | undefined;
  const codec = pngCodec((at, bytes, width, height) => {
    found = { at: at >>> 0, bytes, width, height };
    return anyHandle;
  });
  try {
    codec.decode(put(codec, png), png.byteLength);
  } catch (cause) {
    throw new PictureFault("is damaged: it cannot be decoded", { cause });
  }
  if (!found) throw new Error("the PNG decoder returned nothing");
  const { at, bytes, width, height } = found;
  return { width, height, pixels: new Uint8Array(codec.memory.buffer, at, bytes) };
}

export function encodePng({ width, height, pixels }: Picture): Uint8Array {
  const codec = pngCodec(() => anyHandle);
  return takeResult(codec, (result) => {
    codec.encode(result, put(codec, pixels), pixels.byteLength, width, height, bitsPerSample);
  });
}

/** A resizer with its own memory, for several pictures one after the other. */
export function openResizer(): (picture: Picture, size: { width: number; height: number }) => Picture {
  const resizer = compiled<Pick<ResizeExports, "resize">>(new WebAssembly.Instance(resizeModule, {}));
  return ({ width, height, pixels }, size) => {
    const from = [put(resizer, pixels), pixels.byteLength, width, height] as const;
    const resized = takeResult(resizer, (result) => {
      resizer.resize(result, ...from, size.width, size.height, lanczos3, premultiplied, linearLight);
    });
    return { ...size, pixels: resized };
  };
}

const bitsPerSample = 8;
const lanczos3 = 3;
// These two keep the colour of edges and fine patterns.
const premultiplied = 1;
const linearLight = 1;

/** A handle for a JavaScript value. The compiled code only passes it back. */
const anyHandle = 132;

/**
 * The decoder returns its result by calling ImageData's constructor. The import's name in the module ends with a hash.
 */
function pngCodec(onImage: (at: number, bytes: number, width: number, height: number) => number) {
  const wbg: Record<string, (...given: number[]) => number> = {};
  for (const { name } of WebAssembly.Module.imports(pngModule)) {
    wbg[name] = () => {
      throw new Error(`the PNG codec calls ${name}`);
    };
    if (name.startsWith("__wbg_newwithownedu8clampedarray")) wbg[name] = onImage;
  }
  return compiled<Pick<PngExports, "encode" | "decode">>(new WebAssembly.Instance(pngModule, { wbg }));
}

/** wasm-bindgen's functions in every module, with readable names. */
interface Compiled {
  memory: WebAssembly.Memory;
  allocate: PngExports["__wbindgen_malloc"];
  free: PngExports["__wbindgen_free"];
  moveStack: PngExports["__wbindgen_add_to_stack_pointer"];
}

function compiled<T>({ exports }: WebAssembly.Instance): T & Compiled {
  const bound = exports as unknown as T & PngExports;
  const { __wbindgen_malloc: allocate, __wbindgen_free: free, __wbindgen_add_to_stack_pointer: moveStack } = bound;
  return { ...bound, allocate, free, moveStack };
}

/** Copies bytes into the instance. The compiled function that gets them frees them. */
function put({ memory, allocate }: Compiled, bytes: Uint8Array): number {
  const at = allocate(bytes.byteLength, 1) >>> 0;
  new Uint8Array(memory.buffer, at, bytes.byteLength).set(bytes);
  return at;
}

/** Calls a function that writes the address and length of an array to the stack, and returns a copy of that array. */
function takeResult({ memory, free, moveStack }: Compiled, call: (result: number) => void): Uint8Array {
  const place = moveStack(-16);
  call(place);
  const [at = 0, bytes = 0] = new Uint32Array(memory.buffer, place, 2);
  const copy = new Uint8Array(memory.buffer, at, bytes).slice();
  free(at, bytes, 1);
  moveStack(16);
  return copy;
}
