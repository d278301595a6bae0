/**
 * `npm run chaos -- --seed N`: injects faults into a whole service while it builds, and checks from outside that
 * nothing is lost.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../scripts/chance.ts";
import { checksAfter, checksBefore, type Check, type Happened, type Run } from "./checks.ts";
import { faults, type Fault } from "./faults.ts";
import { Work } from "./work.ts";
import { World } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    builds: { type: "string", default: "60" },
    faults: { type: "string", default: "20" },
    agents: { type: "string", default: "2" },
    minutes: { type: "string", default: "60" },
  },
});
const [seed, builds, count] = [Number(values.seed), Number(values.builds), Number(values.faults)];
const startedAt = Date.now();
const say = (line: string) => console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`);

process.exitCode = await main();

async function main(): Promise<number> {
  say(`seed ${seed}: ${builds} builds, ${count} faults`);
  await using world = await World.start(Number(values.agents));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void world[Symbol.asyncDispose]().finally(() => process.exit(130)));
  }
  const work = await Work.prepare(world, builds);
  const deadline = AbortSignal.timeout(Number(values.minutes) * 60_000);
  const over = new AbortController();
  const working = work
    .run(deadline)
    .catch((error: unknown) => say(`the users gave up: ${String(error)}`))
    .finally(() => over.abort());
  const keeping = keepAgents(world, over.signal);
  const happened = await breakThings(world, work, over.signal);
  await working;
  await keeping;
  await sleep(15_000); // objects clean up after a build has ended
  const run: Run = { world, work, happened };
  const before = await violationsOf(checksBefore, run);
  await world.end();
  const after = await violationsOf(checksAfter, run);
  const isWhole = report(run, [...before, ...after]);
  if (!isWhole) {
    const folder = mkdtempSync(join(tmpdir(), "kiln-chaos-logs-"));
    world.saveLogs(folder);
    console.log(`\nThe logs are in ${folder}.`);
  }
  return isWhole ? 0 : 1;
}

/** Injects the faults one after the other, spread over the builds. */
async function breakThings(world: World, work: Work, over: AbortSignal): Promise<Happened[]> {
  const chance = new Chance(seed);
  const happened: Happened[] = [];
  for (const [nth, { name, mayCostAttempt, happen }] of drawn(chance, count).entries()) {
    const isDue = () => over.aborted || work.ended.length >= Math.floor((nth * builds) / count);
    while (!isDue()) await sleep(500);
    await sleep(chance.between(0, 6_000));
    const from = Date.now();
    const what = await happen(world, chance).catch((error: unknown) => `could not be done: ${String(error)}`);
    happened.push({ name, mayCostAttempt, from, to: Date.now() });
    say(`${String(nth + 1).padStart(2)}. ${name}: ${what}  (${work.ended.length} of ${builds} builds over)`);
  }
  return happened;
}

/** Draws faults in a random order from the seed. Each occurs once before any occurs again. */
function drawn(chance: Chance, wanted: number): Fault[] {
  const order: Fault[] = [];
  let left: Fault[] = [];
  while (order.length < wanted) {
    if (left.length === 0) left = [...faults];
    const next = chance.oneOf(left);
    if (!next) break;
    left = left.filter((each) => each !== next);
    order.push(next);
  }
  return order;
}

async function keepAgents(world: World, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await sleep(2_000);
    await world.keepAgentsRunning().catch((error: unknown) => say(`an agent does not start: ${String(error)}`));
  }
}

async function violationsOf(checks: readonly Check[], run: Run) {
  const found: { name: string; violations: string[] }[] = [];
  for (const { name, violations } of checks) {
    const those = await Promise.resolve(violations(run)).catch((error: unknown) => [`not checked: ${String(error)}`]);
    found.push({ name, violations: those });
  }
  return found;
}

function report({ work, world }: Run, found: { name: string; violations: string[] }[]): boolean {
  const states = Object.entries(Object.groupBy(work.ended, ({ end }) => end?.state ?? ""));
  const attempts = world.all.reduce((sum, { agent }) => sum + agent.said.split("build starts ").length - 1, 0);
  say(`${states.map(([state, those]) => `${those?.length} ${state}`).join(", ")}, in ${attempts} attempts`);
  for (const { id, result, message } of work.testdrives) say(`testdrive ${id} ${result}: ${message}`);
  console.log("\n| what must be true | violations |\n|---|---|");
  for (const { name, violations } of found) {
    console.log(`| ${name} | ${violations.length === 0 ? "none" : violations.join("; ")} |`);
  }
  return found.every(({ violations }) => violations.length === 0);
}
