import type { Figure } from "../figure.ts";
import type { BareService } from "./service.ts";
import type { Universe } from "./universe.ts";
import type { ZypperRoot } from "./zypper.ts";

/** The context of all measurements in this folder. */
export interface Bench {
  say: (line: string) => void;
  universe: Universe;
  zypper: ZypperRoot;
  /** Starts a service on the run's single state, with everything imported before. */
  start: () => Promise<BareService>;
}

/** A figure without a limit. */
export const reported = (what: string, ours: string): Figure => ({
  what,
  ours,
  against: "",
  ratio: "",
  bar: "",
  verdict: "reported",
});

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
