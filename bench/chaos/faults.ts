import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { incarnationIn } from "../../builder-agent/src/incarnation.ts";
import type { Chance } from "../../scripts/chance.ts";
import { descendants, signalAll } from "../../scripts/launch/process-tree.ts";
import type { Host, World } from "./world.ts";

/** A fault that has ended when `happen` resolves. */
export interface Fault {
  name: string;
  /**
   * Whether it may cost a running build an attempt: a program of its host is killed, or its agent is silent for a
   * lease.
   */
  mayCostAttempt: boolean;
  /** Returns a description of this occurrence. */
  happen: (world: World, chance: Chance) => Promise<string>;
}

const seconds = (chance: Chance, first: number, last: number): number => chance.between(first, last);
const anyHost = (world: World, chance: Chance): Host => chance.oneOf(world.hosts) ?? noHost();

function noHost(): never {
  throw new Error("there is no agent");
}

/** Stops processes for a while, as on a host that swaps or is migrated. */
async function stall(pids: readonly number[], forSeconds: number): Promise<void> {
  signalAll(pids, "SIGSTOP");
  await sleep(forSeconds * 1000);
  signalAll(pids, "SIGCONT");
}

const wordsOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
};

/** The processes of the service below its launcher that run workerd. */
const workerds = ({ servicePid }: World): number[] =>
  descendants(servicePid).filter((pid) => /\/workerd serve /.test(wordsOf(pid)));

/** Kills a program that an agent runs. */
const killProgram =
  (program: RegExp): Fault["happen"] =>
  async (world, chance) => {
    const { agent, name } = anyHost(world, chance);
    const found = [...agent.processes()].filter(([, words]) => program.test(words)).map(([pid]) => pid);
    const pid = chance.oneOf(found);
    if (pid === undefined) return `${name} runs none at the moment`;
    signalAll([pid], "SIGKILL");
    return `${name}, process ${pid}`;
  };

const restartService =
  (signal: "SIGTERM" | "SIGKILL"): Fault["happen"] =>
  async (world) => {
    const startedAt = performance.now();
    await world.restartService(signal);
    return `ready again after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  };

/** Breaks an agent's connection for a while. */
const connection =
  (how: "refuse" | "stall", [first, last]: [number, number]): Fault["happen"] =>
  async (world, chance) => {
    const { proxy, name } = anyHost(world, chance);
    const forSeconds = seconds(chance, first, last);
    proxy[how]();
    await sleep(forSeconds * 1000);
    proxy.pass();
    return `${name}, ${forSeconds} s`;
  };

/** An agent's requests whose answers may be lost. */
const asked: Record<string, RegExp> = {
  "claims of builds": /POST \/agent\/builds\/claim/,
  "claims of testdrives": /POST \/agent\/testdrives\/claim/,
  heartbeats: /POST \/agent\/builds\/\d+\/heartbeat/,
  "chunks of logs": /PUT \/agent\/builds\/\d+\/log/,
  parts: /PUT \/agent\/builds\/\d+\/artifacts\/\w+\/parts/,
  "completed uploads": /POST \/agent\/builds\/\d+\/artifacts\/[\w-]+\/complete/,
  "ends of builds": /POST \/agent\/builds\/\d+\/finish/,
};

export const faults: Fault[] = [
  {
    name: "an agent is killed",
    mayCostAttempt: true,
    async happen(world, chance) {
      const { agent, name } = anyHost(world, chance);
      await agent.kill("SIGKILL");
      await agent.start();
      return name;
    },
  },
  {
    name: "an agent is stopped cleanly and started",
    mayCostAttempt: false,
    async happen(world, chance) {
      const { agent, name } = anyHost(world, chance);
      await agent.kill("SIGTERM");
      await agent.start();
      return name;
    },
  },
  {
    name: "an agent stands still",
    mayCostAttempt: true,
    async happen(world, chance) {
      const { agent, name } = anyHost(world, chance);
      const forSeconds = seconds(chance, 20, 40);
      await stall(agent.pid === undefined ? [] : [agent.pid], forSeconds);
      return `${name}, ${forSeconds} s`;
    },
  },
  { name: "KIWI is killed", mayCostAttempt: true, happen: killProgram(/^\S*python\S* .*kiwi-ng /) },
  { name: "QEMU is killed", mayCostAttempt: false, happen: killProgram(/^\S*qemu-system-/) },
  {
    name: "workerd is killed",
    mayCostAttempt: false,
    async happen(world) {
      const pids = workerds(world);
      signalAll(pids, "SIGKILL");
      return `process ${pids.join(", ")}`;
    },
  },
  {
    name: "workerd stands still",
    mayCostAttempt: false,
    async happen(world, chance) {
      const forSeconds = seconds(chance, 10, 45);
      await stall(workerds(world), forSeconds);
      return `${forSeconds} s`;
    },
  },
  { name: "the service is killed and started", mayCostAttempt: false, happen: restartService("SIGKILL") },
  { name: "the service is stopped and started", mayCostAttempt: false, happen: restartService("SIGTERM") },
  { name: "an agent's connections are refused", mayCostAttempt: true, happen: connection("refuse", [5, 40]) },
  { name: "an agent's connections pass nothing on", mayCostAttempt: true, happen: connection("stall", [10, 40]) },
  {
    name: "answers to an agent are lost",
    mayCostAttempt: false,
    async happen(world, chance) {
      const { proxy, name } = anyHost(world, chance);
      const what = chance.oneOf(Object.keys(asked)) ?? "";
      proxy.swallow(asked[what] ?? /(?!)/, 2);
      await sleep(10_000);
      return `${name}, of two ${what}`;
    },
  },
  {
    name: "an agent's disk is full",
    mayCostAttempt: true,
    async happen(world, chance) {
      const { agent, name } = anyHost(world, chance);
      const forSeconds = seconds(chance, 5, 20);
      agent.fillDisk();
      await sleep(forSeconds * 1000);
      agent.emptyDisk();
      return `${name}, ${forSeconds} s`;
    },
  },
  {
    name: "a late hello comes three times",
    mayCostAttempt: false,
    async happen(world, chance) {
      const { agent, token, name } = anyHost(world, chance);
      const { host } = await incarnationIn(agent.stateDir);
      const known = (await world.admin.agents()).find((each) => each.name === name);
      const body = JSON.stringify({ capabilities: known?.capabilities, incarnation: { host, start: 0 } });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const statuses: number[] = [];
      for (let n = 0; n < 3; n += 1) {
        const answer = await fetch(`${world.url}/agent/hello`, { method: "POST", headers, body });
        statuses.push(answer.status);
        await answer.body?.cancel();
      }
      return `${name}, answered ${statuses.join(", ")}`;
    },
  },
  {
    name: "another host works with the token of an agent",
    mayCostAttempt: false,
    async happen(world, chance) {
      const { token, name } = anyHost(world, chance);
      const forSeconds = seconds(chance, 10, 30);
      const twin = await world.addHost(name, token);
      world.twins.push(twin); // the checks include its log and its leftovers
      await twin.agent.start();
      await sleep(forSeconds * 1000);
      await twin.agent.kill("SIGTERM");
      return `${name}, ${forSeconds} s`;
    },
  },
];
