import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { descendants } from "../launch/process-tree.ts";

const tries = 3;

type Given = { date: string; flags: string[]; vars: Record<string, string> };

/** The processor time of a start in ms, and how many times that of an empty Worker it is. */
export interface StartUp {
  ms: number;
  times: number;
}

/**
 * The processor time that workerd needs to start the bundle: the best of three. The Worker checks its variables when it
 * starts, so it gets those of the configuration. While other programs run, everything takes more processor time, but so
 * does an empty Worker.
 */
export async function startUpOf(folder: string, { date, flags, vars }: Given): Promise<StartUp> {
  const wasm = readdirSync(folder).filter((name) => name.endsWith(".wasm"));
  const modules = [
    { type: "ESModule" as const, path: join(folder, "index.js") },
    ...wasm.map((name) => ({ type: "CompiledWasm" as const, path: join(folder, name) })),
  ];
  const empty = {
    type: "ESModule" as const,
    path: join(folder, "empty.js"),
    contents: "export default { fetch() { return new Response() } }",
  };
  const of = (given: object[]) => startMs(given, folder, { date, flags, vars });
  let best: StartUp = { ms: Infinity, times: Infinity };
  for (let n = 0; n < tries; n++) {
    const ms = await of(modules); // right before the empty one, so that both have the same neighbours
    const times = ms / (await of([empty]));
    if (times < best.times) best = { ms, times };
  }
  return best;
}

async function startMs(modules: object[], folder: string, given: Given): Promise<number> {
  const options = convertV4MiniflareOptions({
    modulesRoot: folder,
    modules,
    compatibilityDate: given.date,
    compatibilityFlags: given.flags,
    bindings: given.vars,
    cf: false,
    telemetry: { enabled: false },
  } as Parameters<typeof convertV4MiniflareOptions>[0]);
  const miniflare = new Miniflare(options);
  try {
    await miniflare.ready;
    return processorMs();
  } finally {
    await miniflare.dispose();
  }
}

/** The processor time of the workerd that this process has started. */
function processorMs(): number {
  const stats = descendants(process.pid).map((pid) => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const [workerd] = stats.filter((stat) => stat.includes("(workerd)"));
  if (workerd === undefined) throw new Error("workerd does not run");
  // proc(5): after the name, the state is field 3, the user time 14 and the system time 15, in ticks of 10 ms.
  const fields = workerd.slice(workerd.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
