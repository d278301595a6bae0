import type { Fate } from "./runtime/actors.ts";
import { clock } from "./runtime/clock.ts";
import type { Mishap } from "./runtime/queues.ts";
import { sessions } from "./sessions.ts";
import { witness } from "./witness.ts";
import type { World } from "./world.ts";

/** Injects the fault. `pick` determines the target and the duration. */
type Fault = (world: World, pick: number) => void;

const seconds = (pick: number, most: number) => 1000 * (1 + (pick % most));

const strike =
  (fate: Fate, of = ""): Fault =>
  (world, pick) =>
    void world.strikes.push({ fate, calls: pick % 25, of });

const mishap =
  (name: Mishap, queues: readonly ("jobs" | "imports")[]): Fault =>
  ({ service }, pick) => {
    for (const queue of queues) service[queue].mishaps.push(...Array.from({ length: 1 + (pick % 3) }, () => name));
  };

/** The faults of a simulation. Only faults of an agent may cost an attempt. */
export const faults: Record<string, Fault> = {
  "an agent is killed": ({ hosts }, pick) => {
    const host = hosts[pick % hosts.length];
    if (!host) return;
    witness.agentDied(host.name);
    sessions.agentDied(host.name);
    host.kill(seconds(pick, 50));
  },
  "the line of an agent is cut": ({ hosts, network }, pick) => {
    const host = hosts[pick % hosts.length];
    const process = host?.process;
    if (!host || !process) return;
    witness.agentFails(host.name);
    network.cut.add(process);
    clock.after(seconds(pick, 80), () => network.cut.delete(process));
  },
  "an object dies": ({ service }, pick) => {
    const alive = service.existing.filter(({ actor }) => actor && !actor.isDead);
    alive[pick % alive.length]?.actor?.die();
  },
  "the service restarts": ({ service }) => {
    service.restart();
    void service.start();
  },
  "a caller dies before its call": strike("dies before"),
  "a caller dies after its call": strike("dies after"),
  "a call fails": strike("fails"),
  "an import is killed": strike("dies after", "imports"),
  "an answer is lost": strike("answer lost"),
  "answers about ends are lost": ({ network }, pick) => void (network.lostAnswers.end = 1 + (pick % 3)),
  "answers to claims are lost": ({ network }, pick) => void (network.lostAnswers.claim = 1 + (pick % 12)),
  "D1 is away": (world, pick) => world.failFor("D1", seconds(pick, 60)),
  "R2 is away": (world, pick) => world.failFor("R2", seconds(pick, 60)),
  "calls are slow": (world, pick) => world.slowFor(seconds(pick, 30)),
  "messages are dropped": mishap("drop", ["jobs"]),
  "messages are repeated": mishap("repeat", ["jobs", "imports"]),
  "messages are late": mishap("delay", ["jobs", "imports"]),
  "an alarm rings early": ({ service }, pick) => {
    const ready = service.existing.filter(({ storage }) => storage.alarm !== null);
    void ready[pick % ready.length]?.ring();
  },
};
