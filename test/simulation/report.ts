/** An external event: a user's request, or a fault. */
export interface Step {
  /** Seconds from the beginning. */
  at: number;
  what: string;
  /** Chooses among the possible targets, so that a shorter plan means the same. */
  pick: number;
}

/** A condition that does not hold. */
export interface Violation {
  check: string;
  what: string;
  /** Milliseconds from the beginning. */
  at: number;
}

export interface Outcome {
  violation?: Violation;
  /** The events, one line each. */
  story: string[];
  builds: number;
  attempts: number;
  testdrives: number;
  simulatedMs: number;
}

/** The input of `entry.ts`. */
export interface Order {
  seed: number;
  seeds: number;
  migrations: string[];
  /** Replaces the seed's own value. */
  plan?: Step[];
  /** Whether a failure is reduced to its shortest plan. */
  shrinks: boolean;
  stopsAtFirst: boolean;
  /** Whether to print the events of a simulation even if it has no violation. */
  wantsStory: boolean;
}

/** The result of one seed. */
export interface Report extends Outcome {
  seed: number;
  /** The shortest plan with the violation. */
  plan?: Step[];
}
