/** Writes src/lib/solver/native/probe.wasm from its text form, because no binary is committed. */
import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const source = new URL("../src/lib/solver/native/probe.wat", import.meta.url);
const { parseWat } = await wabt();
const module = parseWat("probe.wat", readFileSync(source, "utf8"));
writeFileSync(new URL("probe.wasm", source), module.toBinary({}).buffer);
