import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectRoot } from "../launch/project.ts";
import { bundleSimulation, type Change } from "./bundle.ts";
import type { Order, Report } from "../../test/simulation/report.ts";

const migrationsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), "utf8"));

interface Wanted extends Partial<Omit<Order, "migrations">> {
  seed: number;
  seeds: number;
  change?: Change | undefined;
}

/** With fewer seeds, starting another process is not worthwhile. */
const seedsOfProcess = 25;

/** The seeds in equal parts, one for each core. */
function partsOf(order: Order): Order[] {
  const { seed, seeds, stopsAtFirst } = order;
  const count = stopsAtFirst ? 1 : Math.min(availableParallelism(), Math.ceil(seeds / seedsOfProcess));
  const size = Math.ceil(seeds / count);
  return Array.from({ length: count }, (_, nth) => {
    const from = nth * size;
    return { ...order, seed: seed + from, seeds: Math.min(size, seeds - from) };
  }).filter((part) => part.seeds > 0);
}

/** Runs each share of the seeds in a separate process, because time and chance are replaced there. */
export async function simulateSeeds({ change, ...wanted }: Wanted): Promise<Report[]> {
  const migrations = migrationsIn(join(projectRoot, "migrations"));
  const order: Order = { shrinks: true, stopsAtFirst: false, wantsStory: false, ...wanted, migrations };
  const file = await bundleSimulation(change, order.wantsStory);
  try {
    return (await Promise.all(partsOf(order).map((part) => reportsOf(file, part)))).flat();
  } finally {
    await rm(file);
  }
}

/** Almost everything is garbage after a step. The more room there is for new objects, the fewer of them are copied. */
const roomForNew = "--max-semi-space-size=64"; // MiB

async function reportsOf(file: string, order: Order): Promise<Report[]> {
  // Recording the places of errors takes a third of the time.
  const stacks = order.wantsStory ? ["--enable-source-maps"] : ["--stack-trace-limit=0"];
  const node = spawn(process.execPath, ["--no-warnings", roomForNew, ...stacks, file, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => node.once("exit", resolve));
  const reports: Report[] = [];
  for await (const line of createInterface({ input: node.stdout })) reports.push(JSON.parse(line));
  const code = await exited;
  if (code !== 0) throw new Error(`the simulation ended with ${code} after ${reports.length} seeds`);
  return reports;
}
