import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Our C code and its headers. */
export const nativeFolder = fileURLToPath(new URL("../../src/lib/solver/native", import.meta.url));
/** The module that the Worker imports. Git ignores it. */
export const moduleFile = join(nativeFolder, "solver.wasm");

const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "kiln/solver");
export const downloadsFolder = join(cacheFolder, "sources");
export const cachedModuleFile = (inputsHash: string): string => join(cacheFolder, inputsHash, "solver.wasm");
