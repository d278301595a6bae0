/** Resolves an appliance after one more package is selected. */
import { type Figure, verdict } from "../figure.ts";
import { median, percentile, spread } from "../statistics.ts";
import type { Bench } from "./bench.ts";
import { ApplianceClient, newAppliance } from "./client.ts";
import type { BareService } from "./service.ts";

/** The selection of an appliance before the change. */
export const selections = [
  { title: "a server", pattern: "base", packages: ["openssh-server"] },
  { title: "a desktop", pattern: "desktop", packages: ["openssh-server"] },
] as const;
export type Selection = (typeof selections)[number];

/** At every Nth change, zypper makes the same change, and the two answers are compared. */
const zypperEvery = 10;
const coldStarts = 6;

export async function fillAppliance(
  { say }: Bench,
  { service, repositoryIds, selection }: { service: BareService; repositoryIds: string[]; selection: Selection },
): Promise<ApplianceClient> {
  const client = await newAppliance(service, repositoryIds);
  await client.add("pattern", selection.pattern);
  for (const name of selection.packages) await client.add("package", name);
  const { size } = await client.installed();
  if (size === 0) throw new Error(`${selection.title} does not resolve`);
  say(`${selection.title} is an appliance of ${size} packages`);
  return client;
}

/** The isolate has not seen any of these changes before. Undoing one returns to a cached image. */
export async function measureWarm(bench: Bench, client: ApplianceClient, selection: Selection): Promise<Figure> {
  const comparison = new Comparison(bench, selection);
  const [ours, back]: [number[], number[]] = [[], []];
  let resolved = 0;
  for (const [at, name] of samplesOf(bench).entries()) {
    const added = await client.add("package", name);
    ours.push(added.ms);
    if (added.value !== "broken") resolved++;
    if (at % zypperEvery === 0) await comparison.take(client, name);
    back.push((await client.remove("package", name)).ms);
  }
  const ratio = median(comparison.ms) / median(ours);
  return {
    what: `one change to ${selection.title} resolved, warm, p50 and p99`,
    ours: `${ms(median(ours))}, ${ms(percentile(ours, 0.99))} (${resolved} of ${ours.length} resolve; back again: ${ms(median(back))})`,
    against: `zypper in --dry-run ${comparison}`,
    ratio: `${ratio.toFixed(1)}×`,
    bar: "≥ 4×, same packages",
    verdict: verdict(ratio >= 4 && comparison.isSame),
  };
}

/** The first change after a start: the isolate has no solver, no repositories and no cached answers. */
export async function measureCold(bench: Bench, applianceIds: readonly string[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [at, selection] of selections.entries()) {
    const comparison = new Comparison(bench, selection);
    const ours: number[] = [];
    for (const name of samplesOf(bench).slice(0, coldStarts)) {
      await using service = await bench.start();
      const client = new ApplianceClient(service.ready, applianceIds[at] ?? "");
      ours.push((await client.add("package", name)).ms);
      await comparison.take(client, name);
      await client.remove("package", name);
    }
    const ratio = median(comparison.ms) / median(ours);
    figures.push({
      what: `one change to ${selection.title} resolved, cold isolate`,
      ours: spread(ours, 0, " ms"),
      against: `zypper in --dry-run ${comparison}`,
      ratio: `${ratio.toFixed(1)}×`,
      bar: "not slower",
      verdict: verdict(ratio >= 1 && comparison.isSame),
    });
  }
  return figures;
}

/** Compares an appliance's answers with zypper's. */
class Comparison {
  readonly ms: number[] = [];
  readonly #bench: Bench;
  readonly #selection: Selection;
  #differing = 0;
  #resolved = 0;

  constructor(bench: Bench, selection: Selection) {
    this.#bench = bench;
    this.#selection = selection;
  }

  /** At least half must resolve, because two failures prove little. */
  get isSame(): boolean {
    return this.#differing === 0 && this.#resolved > this.ms.length / 2;
  }

  /**
   * Compares the appliance, which has its selection and one more package. An empty list means that it does not resolve.
   */
  async take(client: ApplianceClient, name: string): Promise<void> {
    const { pattern, packages } = this.#selection;
    const their = await this.#bench.zypper.install([`patterns-${pattern}`, ...packages, name]);
    this.ms.push(their.ms);
    if (their.value) this.#resolved++;
    const ours = await client.installed();
    const difference = ours.symmetricDifference(their.value ?? new Set());
    if (difference.size === 0) return;
    this.#differing++;
    this.#bench.say(`${name}: only one of the two has ${[...difference].slice(0, 8).join(", ")}`);
  }

  toString(): string {
    const sets = `${this.ms.length} package sets differ, ${this.#resolved} resolve`;
    return `${spread(this.ms, 0, " ms")}; ${this.#differing} of ${sets}`;
  }
}

/** The samples of the largest repository. */
function samplesOf({ universe }: Bench): string[] {
  const [greatest] = universe.repositories.toSorted((left, right) => right.packageCount - left.packageCount);
  return greatest?.samples ?? [];
}

const ms = (value: number) => `${value.toFixed(0)} ms`;
