import { Chance } from "../../scripts/chance.ts";
import { clock } from "./runtime/clock.ts";
import { witness } from "./witness.ts";

/** A testdrive from the point of view of the agent that has claimed it. */
export interface Session {
  id: number;
  agent: string;
  token: string;
  claimedAt: number;
}

/** The events of testdrives that agents and viewers have seen. The service must agree with them. */
class Sessions {
  /** Testdrives that agents are running. */
  running = new Set<Session>();
  /** The end of a testdrive by its agent: the machine has stopped, or could not start. */
  endedByAgent = new Set<number>();
  /** Testdrives whose users have requested the end. */
  stopped = new Set<number>();
  /** The number of connected viewers, by testdrive. */
  viewers = new Map<number, number>();
  /** The time at which the last viewer left a testdrive. */
  emptySince = new Map<number, number>();
  /** Testdrives whose users know that an agent has them, by uid. */
  accepted = new Set<string>();
  /** The violations. */
  faults: string[] = [];
  /** All testdrives that agents have started. */
  begun = new Map<number, Session>();

  begin(): void {
    Object.assign(this, new Sessions());
  }

  claimed(session: Session): void {
    if (this.begun.has(session.id)) this.faults.push(`testdrive ${session.id} is given out twice`);
    this.begun.set(session.id, session);
    this.running.add(session);
  }

  left(session: Session): void {
    this.running.delete(session);
  }

  of(id: number): Session | undefined {
    return this.begun.get(id);
  }

  agentEnds({ id }: Session): void {
    this.endedByAgent.add(id);
  }

  agentDied(agent: string): void {
    for (const session of this.running) if (session.agent === agent) this.running.delete(session);
  }

  isViewed(id: number): boolean {
    return (this.viewers.get(id) ?? 0) > 0;
  }

  viewer(id: number, change: 1 | -1): void {
    const count = (this.viewers.get(id) ?? 0) + change;
    this.viewers.set(id, count);
    if (count > 0) this.emptySince.delete(id);
    else this.emptySince.set(id, clock.now);
  }
}

export const sessions = new Sessions();

/** The course of a machine without faults, as the seed determines it. */
export function fortuneOfGuest(testdriveId: number) {
  const chance = new Chance(witness.seed * 6121 + testdriveId * 37);
  const drawn = chance.between(1, 100);
  const end = drawn <= 5 ? "does not boot" : drawn <= 20 ? "switches itself off" : "runs";
  return { bootSeconds: chance.between(1, 20), seconds: chance.between(5, 150), end } as const;
}
