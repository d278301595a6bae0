/** Something that happens from outside: a user's request, or a fault. */
export interface Step {
  /** Seconds from the beginning. */
  at: number;
  what: string;
  /** Decides between the possible targets, so that a shorter plan means the same. */
  pick: number;
}

/** Something that must be true, and is not. */
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

/** The order to `entry.ts`. */
export interface Order {
  seed: number;
  seeds: number;
  migrations: string[];
  /** Instead of the seed's own. */
  plan?: Step[];
  /** Whether a failure is reduced to its shortest plan. */
  shrinks: boolean;
  stopsAtFirst: boolean;
  /** Whether the story of a simulation without a violation is printed, too. */
  tells: boolean;
}

/** The result of one seed. */
export interface Report extends Outcome {
  seed: number;
  /** The shortest plan with the violation. */
  plan?: Step[];
}
