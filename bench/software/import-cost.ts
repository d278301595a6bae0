/** The cost of an import: the isolate's memory as reported by V8, and processor time. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { adminClient } from "../../scripts/admin/client.ts";
import type { AptProxy } from "../../scripts/launch/apt-proxy.ts";
import { bundleWorker } from "../../scripts/launch/bundle.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { firstAccount } from "../../scripts/launch/first-account.ts";
import { childMark } from "../../scripts/launch/leftovers.ts";
import { descendants } from "../../scripts/launch/process-tree.ts";
import { readOrMakeSecrets } from "../../scripts/launch/secrets.ts";
import { type Figure, verdict } from "../figure.ts";
import { importRepository } from "./client.ts";
import { Inspector } from "./inspector.ts";
import { freePort } from "../../test/acceptance/support/service.ts";
import type { Universe } from "./universe.ts";

const maxMib = 128;
const maxCpuSeconds = 30;
/**
 * V8 collects garbage only near its limit. Without a limit like Cloudflare's, the figure would include much garbage.
 */
const v8Flags = "--max-heap-size=64";
const sampleEveryMs = 20;
const ticksPerSecond = 100; // in /proc, independent of the kernel's own tick rate

/** Imports the largest repository into a new service. */
export async function measureImportCost(
  universe: Universe,
  { stateDir, host }: { stateDir: string; host: string },
): Promise<Figure[]> {
  const [greatest] = universe.repositories.toSorted((left, right) => right.packageCount - left.packageCount);
  if (!greatest) throw new Error("the universe is empty");
  await using service = await startInspected(stateDir, { host, cidrs: ["127.0.0.1/32"] });
  return await measureCost(service, `import of ${greatest.packageCount} packages`, () =>
    importRepository(service, greatest, `http://${host}/${greatest.name}`),
  );
}

/** Memory of the isolate, and processor time, while the import runs. */
export async function measureCost(
  service: InspectedService,
  what: string,
  runImport: () => Promise<unknown>,
): Promise<Figure[]> {
  using inspector = await Inspector.open(service.inspectorPort, "kiln");
  const [cpuBefore, heap] = [service.cpuSeconds(), watchHeap(inspector)];
  await runImport();
  const [cpuSeconds, heapMib] = [service.cpuSeconds() - cpuBefore, mib(await heap.most())];
  const wasmMib = mib(await inspector.wasmBytes());
  const sum = heapMib + wasmMib;
  return [
    {
      what: `${what}: memory of the isolate, at most`,
      ours: `${heapMib.toFixed(0)} MiB of JavaScript and ${wasmMib.toFixed(0)} MiB of WASM`,
      against: "",
      ratio: `${sum.toFixed(0)} MiB`,
      bar: `≤ ${maxMib} MiB`,
      verdict: verdict(sum <= maxMib),
    },
    {
      what: `${what}: processor time of workerd, simulated D1 and R2 with it`,
      ours: `${cpuSeconds.toFixed(1)} s`,
      against: "",
      ratio: `${cpuSeconds.toFixed(1)} s`,
      bar: `≤ ${maxCpuSeconds} s`,
      verdict: verdict(cpuSeconds <= maxCpuSeconds),
    },
  ];
}

export type InspectedService = Awaited<ReturnType<typeof startInspected>>;

/**
 * The embedded service without launcher and agent, with an open inspector and a limited V8 heap. It imports from `host` even if
 * that is private, and from the addresses of `cidrs`, through `proxy` if it is given.
 */
export async function startInspected(
  stateDir: string,
  { host, cidrs, proxy }: { host: string; cidrs: string[]; proxy?: AptProxy | undefined },
) {
  const secrets = readOrMakeSecrets(stateDir);
  const [port, inspectorPort] = [await freePort(), await freePort()];
  const environment = { MINIFLARE_WORKERD_V8_FLAGS: v8Flags, [childMark]: stateDir };
  Object.assign(process.env, environment);
  const embedded = await startEmbedded({
    bundle: await bundleWorker(),
    host: "127.0.0.1",
    port,
    stateDirectory: stateDir,
    bindings: {
      BASE_URL: "",
      ALLOW_HOSTS: host,
      ...(proxy && { CATALOGUE_HOSTS: host, PROXIED_HOSTS: proxy.hosts.join(",") }),
      ...secrets,
    },
    outsideCidrs: cidrs,
    catalogueProxy: proxy?.address,
    inspectorPort,
  });
  for (const name of Object.keys(environment)) delete process.env[name];
  const url = `http://127.0.0.1:${port}`;
  const { username, apiKey } = await firstAccount(adminClient(url, secrets.ADMIN_SECRET), stateDir);
  return {
    ready: { url, username, api_key: apiKey, agent_pid: null },
    stateDir,
    inspectorPort,
    loadCatalogue: (name: string, content: unknown) =>
      adminClient(url, secrets.ADMIN_SECRET).loadCatalogue(name, content),
    cpuSeconds: () =>
      descendants(process.pid)
        .map(cpuSecondsOf)
        .reduce((sum, one) => sum + one, 0),
    [Symbol.asyncDispose]: () => embedded.stop(),
  };
}

/** Polls the heap, and returns its peak when called. */
function watchHeap(inspector: Inspector) {
  const over = new AbortController();
  const watching = (async () => {
    let most = 0;
    while (!over.signal.aborted) {
      most = Math.max(most, await inspector.heapBytes());
      await sleep(sampleEveryMs);
    }
    return most;
  })();
  return {
    most: () => {
      over.abort();
      return watching;
    },
  };
}

/**
 * User and system time of a workerd. 0 for every other process. In proc(5) these are fields 14 and 15, counted after
 * the name in parentheses.
 */
function cpuSecondsOf(pid: number): number {
  try {
    const [, name, rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const fields = rest.split(" ");
    return name === "workerd" ? (Number(fields[11]) + Number(fields[12])) / ticksPerSecond : 0;
  } catch {
    return 0; // The process has just ended.
  }
}

const mib = (bytes: number): number => bytes / 2 ** 20;
