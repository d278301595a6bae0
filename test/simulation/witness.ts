import { Chance } from "../../scripts/chance.ts";
import { clock } from "./runtime/clock.ts";

/** An agent's attempt at a build, from the agent's point of view. */
export interface Attempt {
  buildId: number;
  attempt: number;
  agent: string;
  token: string;
}

/** The events that agents and users have seen. The service must agree with them. */
class Witness {
  seed = 0;
  /** The number of attempts that agents have started. */
  claims = 0;
  /** Attempts that an agent is working on. */
  running = new Set<Attempt>();
  /** Attempts whose agents know that the service has accepted the image. */
  results: Attempt[] = [];
  /** Attempts whose agents were told by the service that they are late. */
  late: Attempt[] = [];
  /** All attempts that an agent has started, by build and number. */
  tokens = new Map<string, string>();
  /** Actions of agents that are not allowed. */
  faults: string[] = [];
  /** The number of attempts that may be lost because of faults of agents. */
  excuses = 0;
  /** The time of each agent's last failure. */
  failedAt = new Map<string, number>();
  /** Builds whose users know that the request was accepted, by uid. */
  accepted = new Set<string>();

  begin(seed: number): void {
    Object.assign(this, new Witness(), { seed });
  }

  claimed(made: Attempt): void {
    this.claims += 1;
    const name = `build ${made.buildId}, attempt ${made.attempt}`;
    if ((this.tokens.get(name) ?? made.token) !== made.token) this.faults.push(`${name} is given out twice`);
    this.tokens.set(name, made.token);
    this.running.add(made);
  }

  left(made: Attempt): void {
    this.running.delete(made);
  }

  finished(made: Attempt): void {
    this.results.push(made);
  }

  hostFailed(): void {
    this.excuses += 1;
  }

  /** The agent can no longer keep its current work. */
  agentFails(agent: string): void {
    this.failedAt.set(agent, clock.now);
    for (const made of this.running) if (made.agent === agent) this.excuses += 1;
  }

  /** The agent's process has ended. */
  agentDied(agent: string): void {
    this.agentFails(agent);
    for (const made of this.running) if (made.agent === agent) this.running.delete(made);
  }
}

export const witness = new Witness();

/** The course of an attempt without faults, as the seed determines it. */
export function fortuneOf({ buildId, attempt }: Pick<Attempt, "buildId" | "attempt">) {
  const chance = new Chance(witness.seed * 7919 + buildId * 31 + attempt);
  const seconds = chance.between(5, chance.between(20, 150));
  const drawn = chance.between(1, 100);
  const end = drawn <= 5 ? "content" : drawn <= 12 ? "host" : "image";
  return { seconds, end } as const;
}
