import { clock } from "./runtime/clock.ts";
import type { World } from "./world.ts";

/**
 * After each event, after each event that has changed the database, at the end, or after the sweep had a day for the
 * rest.
 */
export type Moment = "always" | "step" | "end" | "a day later";

/** A condition that must hold. `violations` returns the exceptions. */
export interface Check {
  name: string;
  when: Moment;
  violations: (world: World) => string[];
}

/** The number of builds, and of testdrives, that a host accepts. */
export const slots = 2;

/** The time since which a condition does not hold, by world. */
const since = new WeakMap<World, Map<string, number>>();

/** A condition that holds for this long without a break. */
export function lasting(world: World, kind: string, ms: number, now: () => string[]): string[] {
  const known = since.get(world) ?? new Map<string, number>();
  since.set(world, known);
  const found = new Set(now().map((what) => `${kind}: ${what}`));
  for (const what of known.keys()) if (what.startsWith(`${kind}: `) && !found.has(what)) known.delete(what);
  for (const what of found) if (!known.has(what)) known.set(what, clock.now);
  return [...found].filter((what) => clock.now - (known.get(what) ?? clock.now) > ms);
}

/** Agents by their ids. */
export const agentNames = ({ service }: World): Map<number, string> =>
  new Map(service.database.query("SELECT id, name FROM agents").map(({ id, name }) => [Number(id), String(name)]));

interface Subjects {
  build: { id: number; state: string };
  testdrive: { id: number; state: string };
  version: { appliance_id: number };
}

/** The announcements to accounts, by the kind of their subject. */
export const announced = <Kind extends keyof Subjects>({ service }: World, kind: Kind): Subjects[Kind][] =>
  [...service.objects.EVENTS.existing.values()]
    .flatMap(({ storage }) => storage.read("SELECT document FROM events"))
    .map((row) => (JSON.parse(String(row["document"])) as Partial<Subjects>)[kind])
    .filter((document) => document !== undefined);
